// A bank: a teller opens the day and books transfers, an auditor sums up the accounts, a clerk prints statements.
// hidden: 35 56
// hidden: 57 80
#include <pthread.h>
#include <stdio.h>

enum { ACCOUNTS = 8, ROUNDS = 10 };

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[ACCOUNTS];
static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t printer_lock = PTHREAD_MUTEX_INITIALIZER;
static long ledger_total;
static int opening_day;  // set by the teller, not guarded
static long audit_limit; // set by the auditor, not guarded
static long pages;

static void deposit(int to, long amount) {
    pthread_mutex_lock(&accounts[to].lock);
    accounts[to].balance += amount;
    pthread_mutex_unlock(&accounts[to].lock);
}

static void book(long amount) {
    pthread_mutex_lock(&ledger_lock);
    ledger_total += amount;
    pthread_mutex_unlock(&ledger_lock);
}

static void *teller(void *unused) {
    opening_day = 17;
    book(0);
    for (int round = 0; round < ROUNDS; round++) {
        deposit(round % ACCOUNTS, 10);
        book(10);
    }
    return unused;
}

static long sum_accounts(void) {
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_lock(&accounts[i].lock);
        sum += accounts[i].balance;
        pthread_mutex_unlock(&accounts[i].lock);
    }
    return sum;
}

static void sign_off(long sum) {
    book(sum - sum);
    if (opening_day > 0)
        audit_limit = sum + 100;
    pthread_mutex_lock(&printer_lock);
    pages++;
    pthread_mutex_unlock(&printer_lock);
}

static void *auditor(void *unused) {
    long sum = sum_accounts();
    sum = sum_accounts();
    sign_off(sum);
    return unused;
}

static void print_page(void) {
    pthread_mutex_lock(&printer_lock);
    pages++;
    pthread_mutex_unlock(&printer_lock);
}

static void *clerk(void *unused) {
    for (int day = 0; day < 4; day++)
        sum_accounts();
    print_page();
    long limit = audit_limit;
    printf("limit %s\n", limit >= 0 ? "kept" : "broken");
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_init(&accounts[i].lock, 0);
    pthread_create(&threads[0], 0, teller, 0);
    pthread_create(&threads[1], 0, auditor, 0);
    pthread_create(&threads[2], 0, clerk, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
