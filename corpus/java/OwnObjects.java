// Random numbers, texts and other objects that keep what they know to themselves order only who shares them.
// Races: OwnObjects.length
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class OwnObjects {
    static int length;
    static int guarded;
    static int counted;
    static final Lock LOCK = new ReentrantLock();
    static final Semaphore PERMIT = new Semaphore(1);
    static final AtomicLong COUNT = new AtomicLong();

    static void work() {
        Random random = new Random();
        StringBuilder text = new StringBuilder();
        for (int number = 0; number < 3; number++) {
            text.append(random.nextInt(10)).append(' ').append(1L << number).append(0.5);
        }
        length = text.length();
        LOCK.lock();
        try {
            guarded++;
        } finally {
            LOCK.unlock();
        }
        PERMIT.acquireUninterruptibly();
        counted += (int) COUNT.incrementAndGet();
        PERMIT.release();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(OwnObjects::work, "one");
        Thread other = new Thread(OwnObjects::work, "other");
        one.start();
        other.start();
        one.join();
        other.join();
        if (guarded != 2 || counted != 3) {
            throw new IllegalStateException();
        }
    }
}
