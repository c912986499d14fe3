// A key whose hash code counts how often it is asked for.
// Races: HashRace.Key.asked
import java.util.HashMap;

public class HashRace {
    static class Key {
        int asked;

        @Override
        public int hashCode() {
            asked++;
            return 1;
        }
    }

    static final Key KEY = new Key();
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
            new HashMap<Key, Integer>().put(KEY, 1);
        }, () -> {
            new HashMap<Key, Integer>().put(KEY, 2);
        });
    }
}
