// Tasks of a timer run one after the other.
// No races.
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

public class TimerTasks {
    static int runs;

    public static void main(String[] arguments) throws Exception {
        Timer timer = new Timer("timer");
        CountDownLatch latch = new CountDownLatch(2);
        for (int task = 0; task < 2; task++) {
            timer.schedule(new TimerTask() {
                @Override
                public void run() {
                    runs++;
                    latch.countDown();
                }
            }, 1);
        }
        latch.await();
        timer.cancel();
        if (runs != 2) {
            throw new IllegalStateException();
        }
    }
}
