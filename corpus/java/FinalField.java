// Final fields can be read without a lock, however their object came here.
// No races.
public class FinalField {
    static class Point {
        final int x;
        Point(int x) { this.x = x; }
    }
    static volatile Point shared;

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
            shared = new Point(3);
        }, () -> {
            Point point = shared;
            if (point != null && point.x != 3) {
                throw new IllegalStateException();
            }
        });
    }
}
