// A queue passes on what was put there.
// No races.
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public class BlockingHandOver {
    static class Box {
        int value;
    }

    static final BlockingQueue<Box> QUEUE = new LinkedBlockingQueue<>();
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
            QUEUE.add(box);
        }, () -> {
            try {
                if (QUEUE.take().value != 1) {
                    throw new IllegalStateException();
                }
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        });
    }
}
