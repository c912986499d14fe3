// A task that runs again and again, on whichever thread of the pool is free, comes after itself.
// No races.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public class PeriodicTask {
    static int runs;

    public static void main(String[] arguments) throws InterruptedException {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(3);
        pool.prestartAllCoreThreads();
        CountDownLatch latch = new CountDownLatch(6);
        pool.scheduleWithFixedDelay(() -> {
            runs++;
            latch.countDown();
        }, 0, 1, TimeUnit.MILLISECONDS);
        latch.await();
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
        if (runs < 6) {
            throw new IllegalStateException();
        }
    }
}
