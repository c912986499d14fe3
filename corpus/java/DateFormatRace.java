// Two threads share a format of dates.
// Races: SimpleDateFormat
import java.text.SimpleDateFormat;
import java.util.Date;

public class DateFormatRace {
    static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy");
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
            FORMAT.format(new Date(0));
        }, () -> {
            FORMAT.format(new Date(0));
        });
    }
}
