// What is done when all have come happens before what they do next.
// No races.
import java.util.concurrent.CyclicBarrier;

public class BarrierAction {
    static int value;
    static final CyclicBarrier BARRIER = new CyclicBarrier(2, () -> value++);

    static void await() {
        try {
            BARRIER.await();
        } catch (Exception broken) {
            throw new IllegalStateException(broken);
        }
    }

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
            await();
            if (value != 1) {
                throw new IllegalStateException();
            }
        }, () -> {
            await();
            if (value != 1) {
                throw new IllegalStateException();
            }
        });
    }
}
