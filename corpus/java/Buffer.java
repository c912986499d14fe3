// The classic: a bounded buffer with one condition for all.
// No races.
public class Buffer {
    final int[] slots = new int[2];
    int count;
    int in;
    int out;

    synchronized void put(int value) throws InterruptedException {
        while (count == slots.length) {
            wait();
        }
        slots[in] = value;
        in = (in + 1) % slots.length;
        count++;
        notifyAll();
    }

    synchronized int take() throws InterruptedException {
        while (count == 0) {
            wait();
        }
        int value = slots[out];
        out = (out + 1) % slots.length;
        count--;
        notifyAll();
        return value;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Buffer buffer = new Buffer();
        Thread[] producers = new Thread[2];
        for (int number = 0; number < producers.length; number++) {
            int first = 10 * number;
            producers[number] = new Thread(() -> {
                try {
                    for (int value = first; value < first + 3; value++) {
                        buffer.put(value);
                    }
                } catch (InterruptedException impossible) {
                    throw new IllegalStateException(impossible);
                }
            }, "producer-" + number);
            producers[number].start();
        }
        int sum = 0;
        for (int taken = 0; taken < 6; taken++) {
            sum += buffer.take();
        }
        for (Thread producer : producers) {
            producer.join();
        }
        if (sum != 36) {
            throw new IllegalStateException();
        }
    }
}
