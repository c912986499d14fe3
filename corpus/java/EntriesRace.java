// A thread changes values of a map by its entries while another one looks one up.
// Races: TreeMap
import java.util.Map;
import java.util.TreeMap;

public class EntriesRace {
    static final Map<String, Integer> MAP = new TreeMap<>();

    static {
        MAP.put("a", 1);
    }

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
            for (Map.Entry<String, Integer> entry : MAP.entrySet()) {
                entry.setValue(2);
            }
        }, () -> {
            MAP.get("a");
        });
    }
}
