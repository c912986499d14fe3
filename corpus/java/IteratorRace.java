// A thread goes through a set while another one adds to it.
// Races: HashSet
import java.util.HashSet;
import java.util.Set;

public class IteratorRace {
    static final Set<Integer> SET = new HashSet<>();
    static int sum;
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
            SET.add(1);
        }, () -> {
            for (int each : SET) {
                sum += each;
            }
        });
    }
}
