// The classic: two threads sort overlapping parts of an array.
// Races: int[1]
public class BubbleSort {
    static final int[] NUMBERS = {3, 2, 1};

    static void order(int low) {
        if (NUMBERS[low] > NUMBERS[low + 1]) {
            int kept = NUMBERS[low];
            NUMBERS[low] = NUMBERS[low + 1];
            NUMBERS[low + 1] = kept;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread left = new Thread(() -> order(0), "left");
        Thread right = new Thread(() -> order(1), "right");
        left.start();
        right.start();
        left.join();
        right.join();
    }
}
