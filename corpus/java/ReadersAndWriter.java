// Readers share a lock, a writer has it alone.
// No races.
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadersAndWriter {
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
            LOCK.writeLock().lock();
            value++;
            LOCK.writeLock().unlock();
        }, () -> {
            LOCK.readLock().lock();
            int seen = value;
            LOCK.readLock().unlock();
        });
    }
}
