// Two threads count under the same lock.
// No races.
public class CounterLocked {
    static int count;
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
            synchronized (LOCK) { count++; }
        }, () -> {
            synchronized (LOCK) { count++; }
        });
        System.out.println(count);
    }
}
