// A list that is wrapped takes the monitor of the wrapper.
// No races.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedList {
    static final List<Integer> LIST = Collections.synchronizedList(new ArrayList<>());
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
            LIST.add(1);
        }, () -> {
            synchronized (LIST) {
                for (int each : LIST) {
                    Thread.yield();
                }
            }
        });
    }
}
