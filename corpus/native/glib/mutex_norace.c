// A mutex, a recursive mutex, and one that is tried.
#include <glib.h>
#include <stdio.h>
static GMutex lock;
static GRecMutex deep;
static int balance, depth, tries;
static void descend(int levels) {
    g_rec_mutex_lock(&deep);
    depth++;
    if (levels > 0) descend(levels - 1);
    g_rec_mutex_unlock(&deep);
}
static gpointer work(gpointer data) {
    for (int i = 0; i < 4; i++) {
        g_mutex_lock(&lock);
        balance += 5;
        g_mutex_unlock(&lock);
        descend(2);
        while (!g_mutex_trylock(&lock)) g_atomic_int_inc(&tries);
        balance -= 2;
        g_mutex_unlock(&lock);
    }
    return data;
}
int main(void) {
    GThread *threads[3];
    for (int i = 0; i < 3; i++) threads[i] = g_thread_new(NULL, work, NULL);
    for (int i = 0; i < 3; i++) g_thread_join(threads[i]);
    printf("%d %d\n", balance, depth);
}
