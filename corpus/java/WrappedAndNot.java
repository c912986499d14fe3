// A list is used by its wrapper, and without it.
// Races: ArrayList
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class WrappedAndNot {
    static final List<Integer> INNER = new ArrayList<>();
    static final List<Integer> LIST = Collections.synchronizedList(INNER);
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
            INNER.add(2);
        });
    }
}
