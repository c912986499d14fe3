// A latch tells that tasks are done.
// No races.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class LatchAndPool {
    static final int[] PARTS = new int[2];

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountDownLatch latch = new CountDownLatch(2);
        for (int part = 0; part < 2; part++) {
            int own = part;
            pool.execute(() -> {
                PARTS[own] = 1;
                latch.countDown();
            });
        }
        latch.await();
        if (PARTS[0] + PARTS[1] != 2) {
            throw new IllegalStateException();
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
