// A sum is computed by tasks that divide themselves.
// No races.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

public class ForkJoinSum {
    static class Sum extends RecursiveTask<Integer> {
        final int[] numbers;
        final int from;
        final int to;

        Sum(int[] numbers, int from, int to) {
            this.numbers = numbers;
            this.from = from;
            this.to = to;
        }

        @Override
        protected Integer compute() {
            if (to - from == 1) {
                return numbers[from];
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(numbers, from, middle);
            left.fork();
            return new Sum(numbers, middle, to).compute() + left.join();
        }
    }

    public static void main(String[] arguments) {
        int[] numbers = new int[4];
        for (int index = 0; index < numbers.length; index++) {
            numbers[index] = index;
        }
        if (new ForkJoinPool(2).invoke(new Sum(numbers, 0, numbers.length)) != 6) {
            throw new IllegalStateException();
        }
    }
}
