// The tasks of a pool share a counter.
#include <glib.h>
#include <stdio.h>
static int hits;
static void task(gpointer data, gpointer user) {
    hits += GPOINTER_TO_INT(data); // races
}
int main(void) {
    GThreadPool *pool = g_thread_pool_new(task, NULL, 3, TRUE, NULL);
    for (int i = 1; i < 7; i++) g_thread_pool_push(pool, GINT_TO_POINTER(i), NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
    printf("%d\n", hits);
}
