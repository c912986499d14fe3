// A notification hands a value over.
// No races.
public class HandOver {
    static int value;
    static boolean full;
    static final Object LOCK = new Object();
    static void waitUntilFull() {
        synchronized (LOCK) {
            while (!full) {
                try {
                    LOCK.wait();
                } catch (InterruptedException impossible) {
                    throw new IllegalStateException(impossible);
                }
            }
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
            value = 5;
            synchronized (LOCK) {
                full = true;
                LOCK.notify();
            }
        }, () -> {
            waitUntilFull();
            if (value != 5) {
                throw new IllegalStateException();
            }
        });
    }
}
