// A thread may enter a monitor again, and holds it until it has left it as often.
// No races.
public class Recursion {
    static int count;
    static synchronized void add(int depth) {
        if (depth > 0) {
            add(depth - 1);
        }
        count++;
    }

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
            add(3);
        }, () -> {
            add(2);
        });
    }
}
