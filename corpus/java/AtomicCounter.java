// Atomics of the library.
// No races.
public class AtomicCounter {
    static final java.util.concurrent.atomic.AtomicInteger COUNT = new java.util.concurrent.atomic.AtomicInteger();
    static int data;

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
            data = 1;
            COUNT.incrementAndGet();
        }, () -> {
            if (COUNT.get() == 1) {
                data++;
            }
        });
    }
}
