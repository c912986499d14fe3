// A scheduled task runs again and again, never twice at once.
// No races.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Scheduled {
    static int runs;

    public static void main(String[] arguments) throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
        CountDownLatch latch = new CountDownLatch(3);
        pool.scheduleAtFixedRate(() -> {
            runs++;
            latch.countDown();
        }, 1, 1, TimeUnit.MILLISECONDS);
        latch.await();
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
        if (runs < 3) {
            throw new IllegalStateException();
        }
    }
}
