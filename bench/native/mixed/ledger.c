// Transfers between accounts, each with a lock of its own; an auditor sums up; notes about the last transfer have no lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACCOUNTS = 5 };

static int transfers;
static struct account {
    pthread_mutex_t lock;
    int balance, transfers;
    int last_partner;
} accounts[ACCOUNTS];

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static int volume, entries;
static int largest;          // the largest transfer so far, more or less
static int last_from, last_to;
static int audits;

static void note(int from, int to, int amount) {
    pthread_mutex_lock(&books);
    volume += amount;
    entries++;
    pthread_mutex_unlock(&books);
    if (amount > largest) largest = amount;
    last_from = from;
    last_to = to;
}

static void transfer(int from, int to, int amount) {
    struct account *low = &accounts[from < to ? from : to], *high = &accounts[from < to ? to : from];
    pthread_mutex_lock(&low->lock);
    pthread_mutex_lock(&high->lock);
    accounts[from].balance -= amount;
    accounts[to].balance += amount;
    accounts[from].transfers++;
    accounts[to].transfers++;
    pthread_mutex_unlock(&high->lock);
    pthread_mutex_unlock(&low->lock);
    accounts[from].last_partner = to;
    note(from, to, amount);
}

static void *teller(void *argument) {
    unsigned state = *(unsigned *)argument;
    for (int i = 0; i < transfers; i++) {
        state = state * 1103515245 + 12345;
        int from = (int)(state >> 16) % ACCOUNTS, to = (from + 1 + (int)(state >> 20) % (ACCOUNTS - 1)) % ACCOUNTS;
        transfer(from, to, 1 + (int)(state >> 24) % 50);
    }
    return NULL;
}

static void *auditor(void *unused) {
    for (int round = 0; round < 4; round++) {
        int sum = 0;
        for (int i = 0; i < ACCOUNTS; i++) {
            pthread_mutex_lock(&accounts[i].lock);
            sum += accounts[i].balance;
            pthread_mutex_unlock(&accounts[i].lock);
        }
        audits++;
        pthread_mutex_lock(&books);
        entries++;
        pthread_mutex_unlock(&books);
        last_from = sum;
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t tellers[2], checker;
    unsigned seeds[2] = {11, 12};
    transfers = argc > 1 ? atoi(argv[1]) : 2;
    for (int i = 0; i < ACCOUNTS; i++) pthread_mutex_init(&accounts[i].lock, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&tellers[i], NULL, teller, &seeds[i]);
    pthread_create(&checker, NULL, auditor, NULL);
    for (int i = 0; i < 2; i++) pthread_join(tellers[i], NULL);
    pthread_join(checker, NULL);
    printf("%d moved in %d entries, %d audits, largest %d\n", volume, entries, audits, largest);
    return 0;
}
