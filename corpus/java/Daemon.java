// The program ends although a daemon waits for ever.
// No races.
public class Daemon {
    static final Object LOCK = new Object();

    public static void main(String[] arguments) throws InterruptedException {
        Thread daemon = new Thread(() -> {
            synchronized (LOCK) {
                while (true) {
                    try {
                        LOCK.wait();
                    } catch (InterruptedException ignored) {
                        return;
                    }
                }
            }
        });
        daemon.setDaemon(true);
        daemon.start();
        Thread.sleep(5);
    }
}
