// A semaphore with one permit is a lock.
// No races.
import java.util.concurrent.Semaphore;

public class Permits {
    static final Semaphore PERMITS = new Semaphore(1);
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
            PERMITS.acquireUninterruptibly();
            value++;
            PERMITS.release();
        }, () -> {
            PERMITS.acquireUninterruptibly();
            value++;
            PERMITS.release();
        });
    }
}
