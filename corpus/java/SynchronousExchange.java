// A queue without room: who puts waits for who takes.
// No races.
import java.util.concurrent.SynchronousQueue;

public class SynchronousExchange {
    static int value;
    static final SynchronousQueue<String> QUEUE = new SynchronousQueue<>();
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
            try {
                value = 1;
                QUEUE.put("go");
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        }, () -> {
            try {
                QUEUE.take();
                value++;
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        });
    }
}
