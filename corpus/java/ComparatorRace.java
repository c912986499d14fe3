// Lists of their own are sorted by a comparator that counts.
// Races: ComparatorRace.compared
import java.util.ArrayList;
import java.util.List;

public class ComparatorRace {
    static int compared;

    static int compare(int one, int other) {
        compared++;
        return Integer.compare(one, other);
    }

    static void sort() {
        List<Integer> list = new ArrayList<>(List.of(2, 1));
        list.sort(ComparatorRace::compare);
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
            sort();
        }, () -> {
            sort();
        });
    }
}
