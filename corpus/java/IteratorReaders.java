// Two threads go through one list, which no thread changes.
// No races.
import java.util.ArrayList;
import java.util.List;

public class IteratorReaders {
    static final List<Integer> LIST = new ArrayList<>(List.of(1, 2));

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            for (int each : LIST) {
                Thread.yield();
            }
        }, "one");
        one.start();
        for (int each : LIST) {
            Thread.yield();
        }
        one.join();
    }
}
