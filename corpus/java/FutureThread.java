// A thread runs a task that another one waits for.
// No races.
import java.util.concurrent.FutureTask;

public class FutureThread {
    static int value;

    public static void main(String[] arguments) throws Exception {
        FutureTask<Integer> task = new FutureTask<>(() -> value = 3);
        new Thread(task, "task").start();
        if (task.get() + value != 6) {
            throw new IllegalStateException();
        }
    }
}
