// A map for threads computes a value under a monitor of its own: lists in it need no other lock.
// No races.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

public class ComputedUnderBin {
    static final ConcurrentHashMap<String, List<Integer>> MAP = new ConcurrentHashMap<>();

    static void add() {
        for (int number = 0; number < 5; number++) {
            int own = number;
            MAP.compute("key", (key, list) -> {
                List<Integer> known = list == null ? new ArrayList<>() : list;
                known.add(own);
                return known;
            });
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(ComputedUnderBin::add, "one");
        Thread two = new Thread(ComputedUnderBin::add, "two");
        one.start();
        two.start();
        one.join();
        two.join();
        if (MAP.get("key").size() != 10) {
            throw new IllegalStateException();
        }
    }
}
