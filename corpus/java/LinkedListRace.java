// A thread asks for the size of a list that another one fills.
// Races: LinkedList
import java.util.LinkedList;
import java.util.List;

public class LinkedListRace {
    static final List<String> LIST = new LinkedList<>();
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
            LIST.add("a");
        }, () -> {
            if (LIST.isEmpty()) {
                Thread.yield();
            }
        });
    }
}
