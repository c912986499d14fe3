// A task ends by an exception; what it did before is known to who waits for it.
// No races.
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

public class FailingTask {
    static int value;

    static int fail() {
        value = 1;
        throw new IllegalArgumentException();
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Integer> task = pool.submit(FailingTask::fail);
        try {
            task.get();
        } catch (ExecutionException failed) {
            if (value != 1) {
                throw new IllegalStateException();
            }
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
