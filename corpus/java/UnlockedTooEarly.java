// A lock is given up before the last access.
// Races: UnlockedTooEarly.value
import java.util.concurrent.locks.ReentrantLock;

public class UnlockedTooEarly {
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
            value++;
        }, () -> {
            LOCK.lock();
            value++;
            LOCK.unlock();
        });
    }
}
