// A queue, a pool, a mutex and one unprotected sum.
#include <glib.h>
#include <stdio.h>
static GMutex lock;
static GCond changed;
static GAsyncQueue *queue;
static int total, unprotected;
static gpointer work(gpointer data) {
    int *item;
    while ((item = g_async_queue_pop(queue)) && *item >= 0) {
        g_mutex_lock(&lock);
        total += *item;
        g_cond_signal(&changed);
        g_mutex_unlock(&lock);
        unprotected += *item; // races
        g_free(item);
    }
    g_free(item);
    return NULL;
}
static void count(gpointer data, gpointer counter) { g_atomic_int_inc((gint *)counter); }
int main(void) {
    queue = g_async_queue_new();
    GThread *threads[3];
    for (int i = 0; i < 3; i++) threads[i] = g_thread_new("work", work, NULL);
    for (int i = 1; i <= 30; i++) {
        int *item = g_new(int, 1);
        *item = i;
        g_async_queue_push(queue, item);
    }
    for (int i = 0; i < 3; i++) {
        int *item = g_new(int, 1);
        *item = -1;
        g_async_queue_push(queue, item);
    }
    for (int i = 0; i < 3; i++) g_thread_join(threads[i]);
    gint counter = 0;
    GThreadPool *pool = g_thread_pool_new(count, &counter, 2, TRUE, NULL);
    for (int i = 0; i < 10; i++) g_thread_pool_push(pool, GINT_TO_POINTER(i + 1), NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
    printf("%d %d\n", total, counter);
}
