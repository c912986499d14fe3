// A text that is printed changes what it is of.
// Races: TextRace.Box.printed
public class TextRace {
    static class Box {
        int printed;

        @Override
        public String toString() {
            printed++;
            return "box";
        }
    }

    static final Box BOX = new Box();
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
            System.out.println(BOX);
        }, () -> {
            System.out.println(BOX);
        });
    }
}
