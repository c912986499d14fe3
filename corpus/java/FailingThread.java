// A thread dies in the midst of a call that takes a monitor; others go on.
// Races: FailingThread.failures
import java.util.Vector;

public class FailingThread {
    static final Vector<Integer> NUMBERS = new Vector<>();
    static int failures;

    public static void main(String[] arguments) throws InterruptedException {
        Thread failing = new Thread(() -> {
            failures++;
            NUMBERS.get(3);
        }, "failing");
        failing.setUncaughtExceptionHandler((thread, reason) -> Thread.yield());
        failing.start();
        failures++;
        NUMBERS.add(1);
        failing.join();
        NUMBERS.add(2);
    }
}
