// `System.arraycopy` reads and writes elements.
// Races: int[1]
public class Copied {
    static final int[] FROM = new int[2];
    static final int[] TO = new int[2];

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
            System.arraycopy(FROM, 1, TO, 1, 1);
        }, () -> {
            TO[1] = 4;
        });
    }
}
