// A queue of the library hands objects over.
// No races.
public class Queue {
    static final java.util.concurrent.ArrayBlockingQueue<int[]> QUEUE = new java.util.concurrent.ArrayBlockingQueue<>(1);
    static void put(int number) {
        try {
            QUEUE.put(new int[] {number});
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
    static int[] take() {
        try {
            return QUEUE.take();
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
            for (int number = 0; number < 3; number++) {
                put(number);
            }
        }, () -> {
            for (int number = 0; number < 3; number++) {
                int[] taken = take();
                if (taken[0]++ != number) {
                    throw new IllegalStateException();
                }
            }
        });
    }
}
