// Threads add to a sum that is made for that.
// No races.
import java.util.concurrent.atomic.LongAdder;

public class Adders {
    static final LongAdder SUM = new LongAdder();
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
            SUM.increment();
        }, () -> {
            SUM.add(2);
        });
        if (SUM.sum() != 3) {
            throw new IllegalStateException();
        }
    }
}
