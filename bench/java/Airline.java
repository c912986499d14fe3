// Clerks sell tickets until the plane is full, and sell too many. After a small program of RVPredict's Table 1.
public class Airline implements Runnable {
    static int seats;
    static int sold;
    static boolean stopSales;

    final int number;

    Airline(int number) {
        this.number = number;
    }

    @Override
    public void run() {
        sold++;
        if (sold > seats) {
            stopSales = true;
        }
        if (number % 3 == 0 && sold == seats) {
            System.out.println("full after " + number);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int clerks = 10;
        seats = clerks - 2;
        Thread[] threads = new Thread[clerks];
        for (int number = 0; number < clerks; number++) {
            threads[number] = new Thread(new Airline(number), "clerk-" + number);
            threads[number].start();
            if (stopSales) {
                sold--;
                break;
            }
        }
        for (Thread thread : threads) {
            if (thread != null) {
                thread.join();
            }
        }
        if (sold > seats) {
            System.out.println("sold " + sold + " of " + seats);
        }
    }
}
