// Each thread has an object of its own.
// No races.
public class ThreadLocalValues {
    static class Box {
        int value;
    }

    static final ThreadLocal<Box> OWN = ThreadLocal.withInitial(Box::new);
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
            OWN.get().value++;
        }, () -> {
            OWN.get().value++;
        });
    }
}
