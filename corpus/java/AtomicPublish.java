// An atomic reference passes on an object.
// No races.
import java.util.concurrent.atomic.AtomicReference;

public class AtomicPublish {
    static class Box {
        int value;
    }

    static final AtomicReference<Box> PLACE = new AtomicReference<>();
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
            Box box = new Box();
            box.value = 1;
            PLACE.set(box);
        }, () -> {
            Box box = PLACE.get();
            if (box != null && box.value != 1) {
                throw new IllegalStateException();
            }
        });
    }
}
