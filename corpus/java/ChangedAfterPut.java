// What was put into a queue is changed by who has put it.
// Races: ChangedAfterPut.Box.value
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class ChangedAfterPut {
    static class Box {
        int value;
    }

    static final BlockingQueue<Box> QUEUE = new ArrayBlockingQueue<>(1);
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
            QUEUE.add(box);
            box.value = 1;
        }, () -> {
            try {
                QUEUE.take().value++;
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        });
    }
}
