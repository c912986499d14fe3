// Steps of a computation follow each other.
// No races.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class CompletableSteps {
    static int value;

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Integer> done = CompletableFuture.supplyAsync(() -> value++, pool).thenApply(seen -> {
            value++;
            return seen + 1;
        });
        if (done.get() + value != 3) {
            throw new IllegalStateException();
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
