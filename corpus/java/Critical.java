// The classic: a critical section that threads guard by a plain variable.
// Races: Critical.turn
public class Critical {
    static int turn = 1;

    static void pass(int me, int next) {
        for (int looks = 0; looks < 50 && turn != me; looks++) {
            Thread.yield();
        }
        turn = next;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> pass(1, 2), "one");
        Thread two = new Thread(() -> pass(2, 1), "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
