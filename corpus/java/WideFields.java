// Fields of two places on the stack.
// Races: WideFields.longer, WideFields.real
public class WideFields {
    long longer;
    double real;
    static final WideFields SHARED = new WideFields();

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
            SHARED.longer = 1L << 40;
            SHARED.real = 0.5;
        }, () -> {
            SHARED.longer = -1;
            SHARED.real = 1e100;
        });
    }
}
