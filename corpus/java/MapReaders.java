// Two threads look into a map that no thread changes any more.
// No races.
import java.util.HashMap;
import java.util.Map;

public class MapReaders {
    static final Map<String, Integer> MAP = new HashMap<>(Map.of("one", 1));
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
            MAP.get("one");
        }, () -> {
            MAP.containsKey("other");
        });
    }
}
