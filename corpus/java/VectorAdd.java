// A vector takes its own monitor.
// No races.
import java.util.Vector;

public class VectorAdd {
    static final Vector<Integer> LIST = new Vector<>();
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
            LIST.add(2);
        });
        if (LIST.size() != 2) {
            throw new IllegalStateException();
        }
    }
}
