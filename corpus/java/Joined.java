// What a thread did happens before the end of `join`, and `start` before what it does.
// No races.
public class Joined {
    static int data;

    public static void main(String[] arguments) throws InterruptedException {
        data = 1;
        Thread thread = new Thread(() -> data++);
        thread.start();
        thread.join();
        data++;
        Thread other = new Thread(() -> data++);
        other.start();
        other.join(60_000);
        if (!other.isAlive()) {
            data++;
        }
        if (data != 5) {
            throw new IllegalStateException();
        }
    }
}
