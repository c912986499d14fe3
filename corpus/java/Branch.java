// rv_figure2_branch: what was read decides whether the other access happens at all.
// No races.
public class Branch {
    static int x;
    static int y;
    static final Object LOCK = new Object();

    static void both(Runnable one, Runnable other) throws InterruptedException {
        Thread first = new Thread(one, "one");
        Thread second = new Thread(other, "other");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    public static void main(String[] arguments) throws Exception {
        both(() -> {
            synchronized (LOCK) {
                x = 1;
                y = 1;
            }
        }, () -> {
            int seen;
            synchronized (LOCK) {
                seen = y;
            }
            if (seen == 1) {
                x++;
            }
        });
    }
}
