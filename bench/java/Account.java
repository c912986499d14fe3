// Threads pay into accounts, take from them, and transfer between them; transfers lock only the account that they take from.
// After a small program of RVPredict's Table 1.
public class Account {
    static final int COUNT = 2;
    static final Account[] ACCOUNTS = new Account[COUNT];
    static int serviced;

    double amount;
    final String name;

    Account(String name, double amount) {
        this.name = name;
        this.amount = amount;
    }

    synchronized void deposit(double money) {
        amount += money;
    }

    synchronized void withdraw(double money) {
        amount -= money;
    }

    synchronized void transfer(Account to, double money) {
        amount -= money;
        to.amount += money;
    }

    static class Customer extends Thread {
        final int number;

        Customer(int number) {
            super("customer-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            Account mine = ACCOUNTS[number];
            mine.deposit(300);
            mine.withdraw(100);
            mine.transfer(ACCOUNTS[(number + 1) % COUNT], 50);
            serviced++;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Customer[] customers = new Customer[COUNT];
        for (int number = 0; number < COUNT; number++) {
            ACCOUNTS[number] = new Account("account-" + number, 100);
            customers[number] = new Customer(number);
        }
        for (Customer customer : customers) {
            customer.start();
        }
        while (serviced < COUNT && Math.random() >= 0) {
            Thread.sleep(1);
            if (serviced > 0) {
                break;
            }
        }
        for (Account account : ACCOUNTS) {
            if (account.amount < 0) {
                System.out.println(account.name + " is overdrawn");
            }
        }
        for (Customer customer : customers) {
            customer.join();
        }
    }
}
