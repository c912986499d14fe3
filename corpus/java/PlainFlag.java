// A flag that is not volatile publishes nothing.
// Races: PlainFlag.ready, PlainFlag.data
public class PlainFlag {
    static int data;
    static boolean ready;
    static boolean seen;

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
            data = 7;
            ready = true;
        }, () -> {
            seen = ready;
            data = 1;
        });
    }
}
