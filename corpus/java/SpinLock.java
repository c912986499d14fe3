// A lock made of an atomic number.
// No races.
import java.util.concurrent.atomic.AtomicInteger;

public class SpinLock {
    static final AtomicInteger LOCK = new AtomicInteger();
    static int value;

    static void add() {
        while (!LOCK.compareAndSet(0, 1)) {
            Thread.yield();
        }
        value++;
        LOCK.set(0);
    }

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
            add();
        }, () -> {
            add();
        });
    }
}
