// A semaphore with two permits is no lock: both threads have one at the same time.
// Races: TwoPermits.value
import java.util.concurrent.Semaphore;

public class TwoPermits {
    static final Semaphore PERMITS = new Semaphore(2);
    static int value;
    static void both(Runnable one, Runnable other) throws InterruptedException {
        Thread first = new Thread(one, "one");
        Thread second = new Thread(other, "other");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException exception) {
            throw new IllegalStateException(exception);
        }
    }

    public static void main(String[] arguments) throws Exception {
        both(() -> {
            PERMITS.acquireUninterruptibly();
            value++;
            pause();
            PERMITS.release();
        }, () -> {
            PERMITS.acquireUninterruptibly();
            value++;
            pause();
            PERMITS.release();
        });
    }
}
