// Tasks add to a list that is not made for that.
// Races: ArrayList
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class TasksWithList {
    static final List<Integer> LIST = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int task = 0; task < 2; task++) {
            int number = task;
            pool.submit(() -> LIST.add(number));
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
    }
}
