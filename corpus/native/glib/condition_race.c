// The value is written after the signal, and outside of the mutex.
#include <glib.h>
#include <stdio.h>
static GMutex lock;
static GCond changed;
static gboolean ready;
static int value;
static gpointer produce(gpointer data) {
    g_mutex_lock(&lock);
    ready = TRUE;
    g_cond_signal(&changed);
    g_mutex_unlock(&lock);
    value = 7; // races
    return data;
}
int main(void) {
    GThread *thread = g_thread_new("produce", produce, NULL);
    g_mutex_lock(&lock);
    while (!ready) g_cond_wait(&changed, &lock);
    g_mutex_unlock(&lock);
    int seen = value; // races
    g_thread_join(thread);
    printf("%d\n", seen >= 0);
}
