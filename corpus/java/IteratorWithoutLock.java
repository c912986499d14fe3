// A synchronized list is gone through without its monitor.
// Races: ArrayList
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class IteratorWithoutLock {
    static final List<Integer> LIST = Collections.synchronizedList(new ArrayList<>(List.of(1)));
    static int sum;

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            LIST.add(2);
        }, "one");
        one.start();
        if (LIST.iterator().hasNext()) {
            sum++;
        }
        one.join();
    }
}
