// The pool is freed without waiting for its tasks.
#include <glib.h>
#include <stdio.h>
static int result;
static GMutex lock;
static gboolean is_done;
static void task(gpointer data, gpointer user) {
    result = 1; // races
    g_mutex_lock(&lock);
    is_done = TRUE;
    g_mutex_unlock(&lock);
}
int main(void) {
    GThreadPool *pool = g_thread_pool_new(task, NULL, 2, TRUE, NULL);
    g_thread_pool_push(pool, GINT_TO_POINTER(1), NULL);
    int seen = result; // races
    g_thread_pool_free(pool, FALSE, TRUE);
    printf("%d %d\n", seen >= 0, is_done);
}
