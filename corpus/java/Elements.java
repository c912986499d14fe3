// Neighbouring elements are different variables, of all types.
// No races.
public class Elements {
    static final byte[] BYTES = new byte[4];
    static final char[] CHARS = new char[4];
    static final int[] INTS = new int[4];
    static final long[] LONGS = new long[4];
    static final double[] DOUBLES = new double[4];
    static final float[] FLOATS = new float[4];
    static final Object[] OBJECTS = new Object[4];
    static final boolean[] FLAGS = new boolean[4];
    static void touch(int at) {
        BYTES[at]++;
        CHARS[at]++;
        INTS[at]++;
        LONGS[at]++;
        DOUBLES[at]++;
        FLOATS[at]++;
        OBJECTS[at] = "text";
        FLAGS[at] = !FLAGS[at];
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
            touch(1);
        }, () -> {
            touch(2);
        });
    }
}
