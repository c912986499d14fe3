// The classic: each clerk looks whether there are seats left, and sells one.
// Races: Airline.sold, Airline.isFull
public class Airline {
    static final int SEATS = 3;
    static int sold;
    static boolean isFull;

    static void sell() {
        sold++;
        if (sold > SEATS) {
            isFull = true;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread[] clerks = new Thread[4];
        for (int number = 0; number < clerks.length; number++) {
            clerks[number] = new Thread(Airline::sell, "clerk-" + number);
            clerks[number].start();
            if (isFull) {
                break;
            }
        }
        for (Thread clerk : clerks) {
            if (clerk != null) {
                clerk.join();
            }
        }
    }
}
