// A thread looks into a map while another one puts something there.
// Races: HashMap
import java.util.HashMap;
import java.util.Map;

public class MapRace {
    static final Map<String, Integer> MAP = new HashMap<>();
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
            MAP.put("one", 1);
        }, () -> {
            MAP.get("other");
        });
    }
}
