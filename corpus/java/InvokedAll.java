// All tasks have ended before their results are used.
// No races.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class InvokedAll {
    static int[] parts = new int[3];

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int part = 0; part < parts.length; part++) {
            int own = part;
            tasks.add(() -> parts[own] = own);
        }
        pool.invokeAll(tasks);
        if (parts[0] + parts[1] + parts[2] != 3) {
            throw new IllegalStateException();
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
