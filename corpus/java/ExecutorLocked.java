// Tasks share a counter under a lock.
// No races.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class ExecutorLocked {
    static int count;

    static synchronized void add() {
        count++;
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int task = 0; task < 4; task++) {
            pool.execute(ExecutorLocked::add);
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
