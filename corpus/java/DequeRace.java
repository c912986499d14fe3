// A producer and a consumer use a queue that is not made for threads.
// Races: ArrayDeque
import java.util.ArrayDeque;

public class DequeRace {
    static final ArrayDeque<String> QUEUE = new ArrayDeque<>();
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
            QUEUE.add("work");
        }, () -> {
            QUEUE.poll();
        });
    }
}
