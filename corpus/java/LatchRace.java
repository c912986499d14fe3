// A thread changes what it has announced.
// Races: LatchRace.value
import java.util.concurrent.CountDownLatch;

public class LatchRace {
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
            LATCH.countDown();
            value = 1;
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
