// A writer goes on as a reader.
// No races.
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class Downgrade {
    static final ReentrantReadWriteLock LOCK = new ReentrantReadWriteLock();
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
            LOCK.writeLock().lock();
            value = 1;
            LOCK.readLock().lock();
            LOCK.writeLock().unlock();
            if (value == 0) {
                throw new IllegalStateException();
            }
            LOCK.readLock().unlock();
        }, () -> {
            LOCK.writeLock().lock();
            value = 2;
            LOCK.writeLock().unlock();
        });
    }
}
