// A list of the program's own calls the library's methods that it overrides; the list is guarded, the counter is not.
// Races: SuperCall.added
import java.util.ArrayList;

public class SuperCall {
    static class Counted extends ArrayList<Integer> {
        @Override
        public boolean add(Integer number) {
            synchronized (this) {
                super.add(number);
            }
            added++;
            return true;
        }
    }

    static final Counted LIST = new Counted();
    static int added;

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> LIST.add(1), "one");
        one.start();
        added++;
        one.join();
    }
}
