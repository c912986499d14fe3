// A lock of the program's own class, which extends one of java.util.concurrent.
// No races.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class OwnLock {
    static class Named extends ReentrantLock {
        final String name;

        Named(String name) {
            this.name = name;
        }
    }

    static final Named LOCK = new Named("lock");
    static final Condition CHANGED = LOCK.newCondition();
    static int value;

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            LOCK.lock();
            try {
                value++;
                CHANGED.signalAll();
            } finally {
                LOCK.unlock();
            }
        }, "one");
        one.start();
        LOCK.lock();
        try {
            while (value == 0) {
                CHANGED.await();
            }
            value++;
        } finally {
            LOCK.unlock();
        }
        one.join();
        if (value != 2) {
            throw new IllegalStateException();
        }
    }
}
