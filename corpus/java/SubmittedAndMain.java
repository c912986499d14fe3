// The main thread changes what a task uses, before it waits for that.
// Races: SubmittedAndMain.value
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

public class SubmittedAndMain {
    static int value;

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> task = pool.submit(() -> {
            value++;
        });
        value = 2;
        task.get();
        if (value > 5) {
            System.out.println(value);
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
