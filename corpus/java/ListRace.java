// Two threads add to a list that is not made for that.
// Races: ArrayList
import java.util.ArrayList;
import java.util.List;

public class ListRace {
    static final List<Integer> LIST = new ArrayList<>();
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
            LIST.add(1);
        }, () -> {
            LIST.add(2);
        });
    }
}
