// The same element of an array.
// Races: int[3]
public class Element {
    static final int[] CELLS = new int[4];

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
            CELLS[3]++;
        }, () -> {
            CELLS[3]++;
        });
    }
}
