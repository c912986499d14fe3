// A counter under a lock of java.util.concurrent.
// No races.
import java.util.concurrent.locks.ReentrantLock;

public class LockGuarded {
    static final ReentrantLock LOCK = new ReentrantLock();
    static int count;
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
            try {
                count++;
            } finally {
                LOCK.unlock();
            }
        }, () -> {
            LOCK.lock();
            try {
                count++;
            } finally {
                LOCK.unlock();
            }
        });
    }
}
