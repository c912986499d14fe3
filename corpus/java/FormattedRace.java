// Between two lines that are formatted nothing is guarded.
// Races: FormattedRace.count
public class FormattedRace {
    static int count;
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
            System.out.printf("%s %d%n", "one", 1);
            count++;
            System.out.printf("%d%n", 2);
        }, () -> {
            count++;
            System.out.println(String.format("%s", "other"));
        });
    }
}
