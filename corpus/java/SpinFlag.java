// A thread waits for a volatile flag.
// No races.
public class SpinFlag {
    static volatile boolean isReady;
    static int value;
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
            value = 1;
            isReady = true;
        }, () -> {
            while (!isReady) {
                Thread.onSpinWait();
            }
            value++;
        });
    }
}
