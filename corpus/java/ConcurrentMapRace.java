// What a map for threads holds is not guarded by it.
// Races: ConcurrentMapRace.Box.value
import java.util.concurrent.ConcurrentHashMap;

public class ConcurrentMapRace {
    static class Box {
        int value;
    }

    static final ConcurrentHashMap<String, Box> MAP = new ConcurrentHashMap<>();
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
            Box box = MAP.computeIfAbsent("box", key -> new Box());
            box.value++;
        }, () -> {
            Box box = MAP.computeIfAbsent("box", key -> new Box());
            box.value++;
        });
    }
}
