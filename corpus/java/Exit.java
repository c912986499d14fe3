// The program ends in the middle of other threads.
// No races.
public class Exit {
    static volatile int count;

    public static void main(String[] arguments) {
        Thread thread = new Thread(() -> {
            while (true) {
                count++;
            }
        });
        thread.start();
        System.exit(0);
    }
}
