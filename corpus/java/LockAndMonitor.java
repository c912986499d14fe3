// A lock is not the monitor of its object.
// Races: LockAndMonitor.value
import java.util.concurrent.locks.ReentrantLock;

public class LockAndMonitor {
    static final ReentrantLock LOCK = new ReentrantLock();
    static int value;
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
            LOCK.lock();
            value++;
            LOCK.unlock();
        }, () -> {
            synchronized (LOCK) {
                value++;
            }
        });
    }
}
