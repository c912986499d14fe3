// A lock is taken twice and given up once too early for the second access.
// No races.
import java.util.concurrent.locks.ReentrantLock;

public class LockTwice {
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
            LOCK.lock();
            value++;
            LOCK.unlock();
            value++;
            LOCK.unlock();
        }, () -> {
            LOCK.lock();
            value++;
            LOCK.unlock();
        });
    }
}
