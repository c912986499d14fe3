// Two threads write while they share a lock.
// Races: WriteUnderReadLock.value
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class WriteUnderReadLock {
    static final ReadWriteLock LOCK = new ReentrantReadWriteLock();
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
            LOCK.readLock().lock();
            value++;
            LOCK.readLock().unlock();
        }, () -> {
            LOCK.readLock().lock();
            value++;
            LOCK.readLock().unlock();
        });
    }
}
