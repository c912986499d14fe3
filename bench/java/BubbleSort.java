// Each pass over the array is a thread of its own, and follows the one before too closely. After a small program of
// RVPredict's Table 1.
public class BubbleSort {
    static final int[] NUMBERS = {5, 2, 4, 1, 3, 6};
    static int swaps;
    static boolean isSorted = true;

    static class Pass extends Thread {
        final int end;

        Pass(int end) {
            super("pass-" + end);
            this.end = end;
        }

        @Override
        public void run() {
            for (int at = 0; at < end; at++) {
                if (NUMBERS[at] > NUMBERS[at + 1]) {
                    swap(at);
                }
            }
        }

        void swap(int at) {
            int kept = NUMBERS[at];
            NUMBERS[at] = NUMBERS[at + 1];
            NUMBERS[at + 1] = kept;
            synchronized (NUMBERS) {
                swaps++;
            }
            isSorted = false;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Pass[] passes = new Pass[NUMBERS.length - 1];
        for (int number = 0; number < passes.length; number++) {
            passes[number] = new Pass(NUMBERS.length - 1 - number);
            passes[number].start();
        }
        if (isSorted) {
            System.out.println("nothing to do yet");
        }
        for (Pass pass : passes) {
            pass.join();
        }
        System.out.println(swaps);
    }
}
