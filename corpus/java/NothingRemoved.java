// To remove what is not there changes nothing, and two threads may do so.
// No races.
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

public class NothingRemoved {
    static final List<String> LIST = new ArrayList<>(List.of("a"));
    static final ArrayDeque<String> QUEUE = new ArrayDeque<>();

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            LIST.remove("b");
            QUEUE.poll();
        }, "one");
        one.start();
        LIST.remove("c");
        QUEUE.poll();
        one.join();
    }
}
