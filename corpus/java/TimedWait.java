// A wait that ends by itself gets its monitor back.
// No races.
public class TimedWait {
    static int count;
    static final Object LOCK = new Object();
    static void pause() {
        synchronized (LOCK) {
            count++;
            try {
                LOCK.wait(5);
            } catch (InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
            count++;
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
            pause();
        }, () -> {
            pause();
        });
    }
}
