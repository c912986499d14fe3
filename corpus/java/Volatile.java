// A volatile flag publishes what was written before.
// No races.
public class Volatile {
    static int data;
    static volatile boolean ready;

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
            data = 7;
            ready = true;
        }, () -> {
            while (!ready) {
                Thread.onSpinWait();
            }
            if (data != 7) {
                throw new IllegalStateException();
            }
        });
    }
}
