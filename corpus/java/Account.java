// The classic: a deposit takes the lock of its account, a transfer only that of the account that it takes from.
// Races: Account.balance
public class Account {
    int balance;

    Account(int balance) {
        this.balance = balance;
    }

    synchronized void deposit(int amount) {
        balance += amount;
    }

    synchronized void transfer(Account to, int amount) {
        balance -= amount;
        to.balance += amount;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Account one = new Account(100);
        Account other = new Account(100);
        Thread thread = new Thread(() -> one.transfer(other, 10), "transfer");
        thread.start();
        other.deposit(5);
        thread.join();
        System.out.println(one.balance + other.balance);
    }
}
