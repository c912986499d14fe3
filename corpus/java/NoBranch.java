// rv_figure2_no_branch: the same, but nothing depends on what was read.
// Races: NoBranch.x
public class NoBranch {
    static int x;
    static int y;
    static final Object LOCK = new Object();
    static int seen;

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
            x = 1;
            synchronized (LOCK) {
                y = 1;
            }
        }, () -> {
            synchronized (LOCK) {
                seen = y;
            }
            x = 2;
        });
    }
}
