// An entry of a map is taken under a lock, and looked at without one, while another thread adds other entries.
// No races.
import java.util.Map;
import java.util.TreeMap;

public class EntryKept {
    static final Map<String, Integer> MAP = new TreeMap<>(Map.of("a", 1));

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            synchronized (MAP) {
                MAP.put("b", 2);
            }
        }, "one");
        one.start();
        Map.Entry<String, Integer> entry;
        synchronized (MAP) {
            entry = MAP.entrySet().iterator().next();
        }
        if (entry.getValue() != 1 || !entry.getKey().equals("a")) {
            throw new IllegalStateException();
        }
        one.join();
    }
}
