// Each thread has a value of its own.
// No races.
public class ThreadLocals {
    static final ThreadLocal<int[]> OWN = ThreadLocal.withInitial(() -> new int[1]);

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
            OWN.get()[0]++;
        }, () -> {
            OWN.get()[0]++;
        });
    }
}
