// Producers and consumers with a buffer that waits and notifies; its statistics are not guarded. After a small program of
// RVPredict's Table 1.
public class BoundedBuffer {
    final int[] slots = new int[2];
    int first;
    int size;
    int waits;
    volatile boolean isClosed;
    int produced;
    int consumed;
    boolean isIdle;

    void put(int value) throws InterruptedException {
        synchronized (this) {
            while (size == slots.length) {
                waits++;
                wait();
            }
            slots[(first + size) % slots.length] = value;
            size++;
            notifyAll();
        }
        produced++;
    }

    int take() throws InterruptedException {
        int value;
        synchronized (this) {
            while (size == 0) {
                waits++;
                wait();
            }
            value = slots[first];
            first = (first + 1) % slots.length;
            size--;
            notifyAll();
        }
        consumed++;
        isIdle = size == 0;
        return value;
    }

    static class Producer extends Thread {
        final BoundedBuffer buffer;
        int last;

        Producer(BoundedBuffer buffer, int number) {
            super("producer-" + number);
            this.buffer = buffer;
        }

        @Override
        public void run() {
            try {
                for (int value = 0; value < 4; value++) {
                    buffer.put(value);
                    last = value;
                }
            } catch (InterruptedException stopped) {
                last = -1;
            }
        }
    }

    static class Consumer extends Thread {
        final BoundedBuffer buffer;
        int sum;

        Consumer(BoundedBuffer buffer, int number) {
            super("consumer-" + number);
            this.buffer = buffer;
        }

        @Override
        public void run() {
            try {
                for (int taken = 0; taken < 4; taken++) {
                    sum += buffer.take();
                }
            } catch (InterruptedException stopped) {
                sum = -1;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        BoundedBuffer buffer = new BoundedBuffer();
        Producer[] producers = {new Producer(buffer, 0), new Producer(buffer, 1)};
        Consumer[] consumers = {new Consumer(buffer, 0), new Consumer(buffer, 1)};
        for (int number = 0; number < 2; number++) {
            producers[number].start();
            consumers[number].start();
        }
        if (buffer.produced > buffer.consumed || buffer.isIdle) {
            System.out.println("at work: " + buffer.size + " " + buffer.first + " " + buffer.waits);
        }
        System.out.println(consumers[0].sum + consumers[1].sum + producers[0].last + producers[1].last);
        for (int number = 0; number < 2; number++) {
            producers[number].join();
            consumers[number].join();
        }
    }
}
