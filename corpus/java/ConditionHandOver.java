// A thread waits for a condition of a lock.
// No races.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class ConditionHandOver {
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Condition FULL = LOCK.newCondition();
    static boolean isFull;
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
            value = 1;
            isFull = true;
            FULL.signal();
            LOCK.unlock();
        }, () -> {
            LOCK.lock();
            try {
                while (!isFull) {
                    FULL.await();
                }
                value++;
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            } finally {
                LOCK.unlock();
            }
        });
    }
}
