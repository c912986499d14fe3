// One of two threads forgets the mutex.
#include <glib.h>
#include <stdio.h>
static GMutex lock;
static int balance;
static gpointer deposit(gpointer data) {
    g_mutex_lock(&lock);
    balance += 5; // races
    g_mutex_unlock(&lock);
    return data;
}
int main(void) {
    GThread *thread = g_thread_new("deposit", deposit, NULL);
    balance -= 3; // races
    g_thread_join(thread);
    printf("%d\n", balance);
}
