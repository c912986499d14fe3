// Two threads count without a lock.
// Races: Counter.count
public class Counter {
    static int count;

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
