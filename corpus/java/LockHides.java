// The observed order of the locks hides the race.
// Races: LockHides.value
import java.util.concurrent.locks.ReentrantLock;

public class LockHides {
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
            value = 1;
            LOCK.lock();
            LOCK.unlock();
        }, () -> {
            LOCK.lock();
            LOCK.unlock();
            value = 2;
        });
    }
}
