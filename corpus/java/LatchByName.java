// A thread counts down by the name of the method.
// No races.
import java.util.concurrent.CountDownLatch;

public class LatchByName {
    static final CountDownLatch LATCH = new CountDownLatch(1);
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
            Runnable announce = LATCH::countDown;
            announce.run();
        }, () -> {
            try {
                LATCH.await();
                value++;
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        });
    }
}
