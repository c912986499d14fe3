// Tasks of an executor that run at the same time.
// Races: ExecutorRace.count
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class ExecutorRace {
    static int count;

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.execute(() -> count++);
        pool.execute(() -> count++);
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
