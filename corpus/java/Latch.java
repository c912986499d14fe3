// A latch of the library.
// No races.
public class Latch {
    static final java.util.concurrent.CountDownLatch LATCH = new java.util.concurrent.CountDownLatch(1);
    static int data;
    static void await() {
        try {
            LATCH.await();
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
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
            data = 3;
            LATCH.countDown();
        }, () -> {
            await();
            data++;
        });
    }
}
