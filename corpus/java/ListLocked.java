// Two threads add to a list under a lock.
// No races.
import java.util.ArrayList;
import java.util.List;

public class ListLocked {
    static final List<Integer> LIST = new ArrayList<>();
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
            synchronized (LIST) {
                LIST.add(1);
            }
        }, () -> {
            synchronized (LIST) {
                LIST.add(2);
            }
        });
        if (LIST.size() != 2) {
            throw new IllegalStateException();
        }
    }
}
