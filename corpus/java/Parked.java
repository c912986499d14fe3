// A thread parks until another one lets it go on.
// No races.
public class Parked {
    static volatile Thread sleeper;
    static volatile boolean go;
    static int data;

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
            sleeper = Thread.currentThread();
            while (!go) {
                java.util.concurrent.locks.LockSupport.park();
            }
            data++;
        }, () -> {
            data = 1;
            go = true;
            Thread waiting = sleeper;
            if (waiting != null) {
                java.util.concurrent.locks.LockSupport.unpark(waiting);
            }
        });
    }
}
