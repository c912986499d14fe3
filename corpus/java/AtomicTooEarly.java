// A flag is set before what it announces.
// Races: AtomicTooEarly.value
import java.util.concurrent.atomic.AtomicBoolean;

public class AtomicTooEarly {
    static final AtomicBoolean IS_READY = new AtomicBoolean();
    static int value;
    static void both(Runnable one, Runnable other) throws InterruptedException {
        Thread first = new Thread(one, "one");
        Thread second = new Thread(other, "other");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    public static void main(String[] arguments) throws Exception {
        both(() -> {
            IS_READY.set(true);
            value = 1;
        }, () -> {
            if (IS_READY.get()) {
                value++;
            }
            value++;
        });
    }
}
