// A monitor is left when an exception leaves its block, and can be had by the next one.
// No races.
public class LockInFinally {
    static int count;
    static synchronized void fail() {
        count++;
        throw new IllegalStateException();
    }
    static void attempt() {
        try {
            fail();
        } catch (IllegalStateException expected) {
            synchronized (LockInFinally.class) {
                count++;
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
            attempt();
        }, () -> {
            attempt();
        });
    }
}
