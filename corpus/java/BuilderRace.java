// Two threads append to one text.
// Races: StringBuilder
public class BuilderRace {
    static final StringBuilder TEXT = new StringBuilder();
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
            TEXT.append("one");
        }, () -> {
            TEXT.append('o');
        });
    }
}
