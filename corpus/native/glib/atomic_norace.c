// Publication by an atomic flag, and reference counts.
#include <glib.h>
#include <stdio.h>
typedef struct {
    gint references;
    int value;
} Shared;
static int flag, data_value;
static void release(Shared *shared) {
    if (g_atomic_int_dec_and_test(&shared->references)) {
        shared->value = -1;
        g_free(shared);
    }
}
static gpointer use(gpointer data) {
    Shared *shared = data;
    int seen = shared->value;
    release(shared);
    data_value = 9;
    g_atomic_int_set(&flag, 1);
    return GINT_TO_POINTER(seen);
}
int main(void) {
    Shared *shared = g_new0(Shared, 1);
    shared->references = 2;
    shared->value = 4;
    GThread *thread = g_thread_new("use", use, shared);
    int seen = shared->value;
    release(shared);
    if (g_atomic_int_get(&flag)) seen += data_value;
    g_thread_join(thread);
    printf("%d\n", seen > 0);
}
