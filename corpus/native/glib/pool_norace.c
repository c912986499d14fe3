// Each task has an element of its own, and the sum is atomic.
#include <glib.h>
#include <stdio.h>
static int cells[8], sum;
static void task(gpointer data, gpointer user) {
    int index = GPOINTER_TO_INT(data) - 1;
    cells[index] += *(int *)user;
    g_atomic_int_add(&sum, cells[index]);
}
int main(void) {
    int step = 3;
    GThreadPool *pool = g_thread_pool_new(task, &step, 3, FALSE, NULL);
    for (int i = 0; i < 8; i++) {
        cells[i] = i;
        g_thread_pool_push(pool, GINT_TO_POINTER(i + 1), NULL);
    }
    g_thread_pool_free(pool, FALSE, TRUE);
    for (int i = 0; i < 8; i++) sum += cells[i];
    printf("%d\n", sum);
}
