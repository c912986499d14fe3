// The monitor of a class is that of its static synchronized methods.
// No races.
public class StaticMethods {
    static int count;
    static synchronized void add() { count++; }

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
            add();
        }, () -> {
            synchronized (StaticMethods.class) { count++; }
        });
    }
}
