// The monitor of an object is not that of its class.
// Races: InstanceAndStatic.count
public class InstanceAndStatic {
    static int count;
    static final InstanceAndStatic OBJECT = new InstanceAndStatic();
    synchronized void add() { count++; }
    static synchronized void addStatic() { count++; }

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
            OBJECT.add();
        }, () -> {
            addStatic();
        });
    }
}
