// Two threads replace different elements of a list, and values of different keys of a map.
// No races.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class DisjointParts {
    static final List<Integer> LIST = new ArrayList<>(List.of(1, 2));
    static final Map<String, Integer> MAP = new HashMap<>(Map.of("a", 1, "b", 2));

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            LIST.set(0, 3);
            MAP.put("a", 3);
        }, "one");
        one.start();
        LIST.set(1, 4);
        MAP.put("b", 4);
        one.join();
        if (LIST.get(0) + LIST.get(1) + MAP.get("a") + MAP.get("b") != 14) {
            throw new IllegalStateException();
        }
    }
}
