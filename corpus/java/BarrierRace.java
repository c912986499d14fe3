// After the barrier nothing is guarded.
// Races: BarrierRace.value
import java.util.concurrent.CyclicBarrier;

public class BarrierRace {
    static int value;
    static final CyclicBarrier BARRIER = new CyclicBarrier(2);

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
            value++;
        }, () -> {
            await();
            value++;
        });
    }
}
