// The main thread does not wait, and a thread that only sleeps orders nothing.
// Races: NotJoined.data
public class NotJoined {
    static int data;

    public static void main(String[] arguments) throws InterruptedException {
        Thread thread = new Thread(() -> data++);
        thread.start();
        Thread.sleep(20);
        data++;
        thread.join();
    }
}
