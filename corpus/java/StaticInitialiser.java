// What a static initialiser does happens before every use of its class.
// No races.
public class StaticInitialiser {
    static class Table {
        static int[] squares = new int[10];
        static int size;
        static {
            for (int at = 0; at < squares.length; at++) {
                squares[at] = at * at;
            }
            size = squares.length;
        }
        static int at(int index) { return squares[index]; }
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
            if (Table.at(3) != 9) {
                throw new IllegalStateException();
            }
        }, () -> {
            if (Table.size != 10) {
                throw new IllegalStateException();
            }
        });
    }
}
