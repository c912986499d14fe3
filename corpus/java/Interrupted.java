// A thread that waits is interrupted; what was done before happens before what it does then.
// No races.
public class Interrupted {
    static int data;
    static final Object LOCK = new Object();

    public static void main(String[] arguments) throws InterruptedException {
        Thread thread = new Thread(() -> {
            try {
                synchronized (LOCK) {
                    while (true) {
                        LOCK.wait();
                    }
                }
            } catch (InterruptedException expected) {
                data++;
            }
        });
        thread.start();
        data = 1;
        thread.interrupt();
        thread.join();
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(1_000_000);
            } catch (InterruptedException expected) {
                data++;
            }
        });
        sleeper.start();
        sleeper.interrupt();
        sleeper.join();
        if (data != 3) {
            throw new IllegalStateException();
        }
    }
}
