// Tasks are taken as they are done.
// No races.
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class CompletionOrder {
    static final int[] PARTS = new int[2];

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        for (int part = 0; part < 2; part++) {
            int own = part;
            service.submit(() -> {
                PARTS[own] = 1;
                return own;
            });
        }
        int sum = 0;
        for (int taken = 0; taken < 2; taken++) {
            sum += PARTS[service.take().get()];
        }
        if (sum != 2) {
            throw new IllegalStateException();
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
