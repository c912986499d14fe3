// A bounded buffer with a lock and two conditions.
// No races.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class LockedBuffer {
    final int[] slots = new int[2];
    final ReentrantLock lock = new ReentrantLock();
    final Condition hasRoom = lock.newCondition();
    final Condition hasContent = lock.newCondition();
    int first;
    int size;

    void put(int value) throws InterruptedException {
        lock.lock();
        try {
            while (size == slots.length) {
                hasRoom.await();
            }
            slots[(first + size) % slots.length] = value;
            size++;
            hasContent.signal();
        } finally {
            lock.unlock();
        }
    }

    int take() throws InterruptedException {
        lock.lock();
        try {
            while (size == 0) {
                hasContent.await();
            }
            int value = slots[first];
            first = (first + 1) % slots.length;
            size--;
            hasRoom.signal();
            return value;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] arguments) throws Exception {
        LockedBuffer buffer = new LockedBuffer();
        Thread producer = new Thread(() -> {
            try {
                for (int value = 0; value < 5; value++) {
                    buffer.put(value);
                }
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
        }, "producer");
        producer.start();
        int sum = 0;
        for (int taken = 0; taken < 5; taken++) {
            sum += buffer.take();
        }
        producer.join();
        if (sum != 10) {
            throw new IllegalStateException();
        }
    }
}
