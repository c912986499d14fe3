// Who waits for a condition uses the value only after it has given up the lock.
// Races: ConditionRace.value
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class ConditionRace {
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
            isFull = true;
            FULL.signalAll();
            LOCK.unlock();
            value = 1;
        }, () -> {
            LOCK.lock();
            try {
                while (!isFull) {
                    FULL.await();
                }
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            } finally {
                LOCK.unlock();
            }
            value = 2;
        });
    }
}
