// Who does not get the lock does nothing.
// No races.
import java.util.concurrent.locks.ReentrantLock;

public class TryLock {
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
            if (LOCK.tryLock()) {
                value++;
                LOCK.unlock();
            }
        }, () -> {
            if (LOCK.tryLock()) {
                value++;
                LOCK.unlock();
            }
        });
    }
}
