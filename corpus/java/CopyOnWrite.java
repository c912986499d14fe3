// A list that is copied when it changes.
// No races.
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

public class CopyOnWrite {
    static final List<int[]> LIST = new CopyOnWriteArrayList<>();
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
            int[] numbers = new int[1];
            numbers[0] = 7;
            LIST.add(numbers);
        }, () -> {
            for (int[] numbers : LIST) {
                if (numbers[0] != 7) {
                    throw new IllegalStateException();
                }
            }
        });
    }
}
