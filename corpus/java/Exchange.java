// Two threads exchange what they have made.
// No races.
import java.util.concurrent.Exchanger;

public class Exchange {
    static final Exchanger<int[]> EXCHANGER = new Exchanger<>();

    static int[] exchange(int value) {
        int[] mine = new int[1];
        mine[0] = value;
        try {
            return EXCHANGER.exchange(mine);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
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
            if (exchange(1)[0] != 2) {
                throw new IllegalStateException();
            }
        }, () -> {
            if (exchange(2)[0] != 1) {
                throw new IllegalStateException();
            }
        });
    }
}
