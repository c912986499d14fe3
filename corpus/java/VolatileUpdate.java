// To count with a volatile variable loses counts, but is no race.
// No races.
public class VolatileUpdate {
    static volatile int count;

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
            count++;
        }, () -> {
            count++;
        });
    }
}
