// Threads meet between two phases.
// No races.
import java.util.concurrent.CyclicBarrier;

public class BarrierPhases {
    static final CyclicBarrier BARRIER = new CyclicBarrier(2);
    static final int[] PARTS = new int[2];
    static int sum;

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
            PARTS[0] = 1;
            await();
            if (PARTS[1] != 2) {
                throw new IllegalStateException();
            }
        }, () -> {
            PARTS[1] = 2;
            await();
            if (PARTS[0] != 1) {
                throw new IllegalStateException();
            }
        });
    }
}
