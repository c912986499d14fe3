// A map that is made for threads passes on what was put there.
// No races.
import java.util.concurrent.ConcurrentHashMap;

public class ConcurrentMap {
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
            Box box = new Box();
            box.value = 1;
            MAP.put("box", box);
        }, () -> {
            Box box = MAP.get("box");
            if (box != null && box.value != 1) {
                throw new IllegalStateException();
            }
        });
    }
}
