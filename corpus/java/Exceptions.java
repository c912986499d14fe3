// Exceptions through many calls, out of the library and out of monitors; what is held then is given up.
// No races.
import java.util.List;

public class Exceptions {
    static int count;

    static int deep(int depth) {
        synchronized (Exceptions.class) {
            count++;
            if (depth == 0) {
                throw new ArithmeticException();
            }
            return deep(depth - 1) + 1;
        }
    }

    static void all() {
        for (int round = 0; round < 3; round++) {
            try {
                List.of(1, 2, 3).forEach(number -> deep(number));
            } catch (ArithmeticException expected) {
                synchronized (Exceptions.class) {
                    count--;
                }
            }
        }
        try {
            Object none = null;
            none.hashCode();
        } catch (NullPointerException expected) {
            synchronized (Exceptions.class) {
                count--;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread thread = new Thread(Exceptions::all);
        thread.start();
        all();
        thread.join();
        if (count != 4) {
            throw new IllegalStateException("" + count);
        }
    }
}
