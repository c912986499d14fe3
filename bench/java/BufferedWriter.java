// Writers fill a buffer under a lock; a checker looks at it without one. After a small program of RVPredict's Table 1.
public class BufferedWriter {
    static final int LENGTH = 12;

    static class Buffer {
        final char[] text = new char[LENGTH];
        int size;
        int written;
    }

    static class Writer extends Thread {
        final Buffer buffer;
        final char letter;

        Writer(Buffer buffer, char letter) {
            super("writer-" + letter);
            this.buffer = buffer;
            this.letter = letter;
        }

        @Override
        public void run() {
            for (int count = 0; count < 3; count++) {
                synchronized (buffer) {
                    if (buffer.size < LENGTH) {
                        buffer.text[buffer.size] = letter;
                        buffer.size++;
                        buffer.written++;
                    }
                }
            }
        }
    }

    static class Checker extends Thread {
        final Buffer buffer;
        boolean isWrong;

        Checker(Buffer buffer) {
            super("checker");
            this.buffer = buffer;
        }

        @Override
        public void run() {
            int size = buffer.size;
            int written = buffer.written;
            isWrong = size != written;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Buffer buffer = new Buffer();
        Thread[] threads = {new Writer(buffer, 'a'), new Writer(buffer, 'b'), new Writer(buffer, 'c'), new Checker(buffer)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(buffer.size + " " + buffer.written);
    }
}
