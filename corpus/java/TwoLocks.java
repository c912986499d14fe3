// Two threads count under different locks.
// Races: TwoLocks.count
public class TwoLocks {
    static int count;
    static final Object ONE = new Object();
    static final Object OTHER = new Object();

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
            synchronized (ONE) { count++; }
        }, () -> {
            synchronized (OTHER) { count++; }
        });
    }
}
