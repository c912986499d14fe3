// Tasks of an executor: what was done before they are handed in, and after they are waited for.
// No races.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Executor {
    static class Box {
        int value;
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Box> boxes = new ArrayList<>();
        List<Future<?>> results = new ArrayList<>();
        for (int number = 0; number < 4; number++) {
            Box box = new Box();
            box.value = number;
            boxes.add(box);
            results.add(pool.submit(() -> {
                box.value++;
            }));
        }
        int sum = 0;
        for (int number = 0; number < 4; number++) {
            results.get(number).get();
            sum += boxes.get(number).value;
        }
        pool.shutdown();
        if (sum != 10) {
            throw new IllegalStateException();
        }
    }
}
