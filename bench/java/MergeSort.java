// Threads sort the halves of an array as long as there are threads left, and do not wait for each other as they should.
// After a small program of RVPredict's Table 1.
public class MergeSort {
    static int available = 4;
    static final int[] NUMBERS = {4, 3, 8, 1, 7, 2, 6, 5};
    static final int[] MERGED = new int[NUMBERS.length];
    static int done;

    static synchronized boolean takesThread() {
        if (available == 0) {
            return false;
        }
        available--;
        return true;
    }

    static void sort(int low, int high) throws InterruptedException {
        if (high - low < 2) {
            return;
        }
        int middle = (low + high) / 2;
        Thread helper = null;
        if (available > 0 && takesThread()) {
            helper = new Thread(() -> {
                try {
                    sort(low, middle);
                    done++;
                } catch (InterruptedException stopped) {
                    done = -1;
                }
            }, "helper-" + low + "-" + middle);
            helper.start();
        } else {
            sort(low, middle);
        }
        sort(middle, high);
        merge(low, middle, high);
        if (helper != null) {
            helper.join();
        }
    }

    static void merge(int low, int middle, int high) {
        int left = low;
        int right = middle;
        for (int at = low; at < high; at++) {
            boolean fromLeft = right >= high || left < middle && NUMBERS[left] <= NUMBERS[right];
            MERGED[at] = fromLeft ? NUMBERS[left++] : NUMBERS[right++];
        }
        for (int at = low; at < high; at++) {
            NUMBERS[at] = MERGED[at];
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        sort(0, NUMBERS.length);
        System.out.println(done);
    }
}
