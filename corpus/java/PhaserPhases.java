// A phaser is a barrier.
// No races.
import java.util.concurrent.Phaser;

public class PhaserPhases {
    static final Phaser PHASER = new Phaser(2);
    static int one;
    static int other;
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
            one = 1;
            PHASER.arriveAndAwaitAdvance();
            one += other;
        }, () -> {
            other = 1;
            PHASER.arriveAndAwaitAdvance();
        });
    }
}
