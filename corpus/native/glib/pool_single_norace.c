// Each pool has one thread at a time: its tasks follow each other, whichever threads run them.
#include <glib.h>
#include <stdio.h>
static int sum, other;
static void add(gpointer number, gpointer unused) { sum += GPOINTER_TO_INT(number); }
static void add_other(gpointer number, gpointer unused) { other += GPOINTER_TO_INT(number); }
int main(void) {
    GThreadPool *one = g_thread_pool_new(add, NULL, 1, FALSE, NULL);
    GThreadPool *two = g_thread_pool_new(add_other, NULL, 1, FALSE, NULL);
    for (int i = 1; i < 4; i++) {
        g_thread_pool_push(i % 2 ? one : two, GINT_TO_POINTER(i), NULL);
        g_thread_pool_push(i % 2 ? two : one, GINT_TO_POINTER(i), NULL);
        // Idle threads leave their pools after half a second.
        g_usleep(1000000);
    }
    g_thread_pool_free(one, FALSE, TRUE);
    g_thread_pool_free(two, FALSE, TRUE);
    printf("%d %d\n", sum, other);
}
