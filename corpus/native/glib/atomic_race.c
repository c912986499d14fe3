// The flag is atomic, but only the flag: it is set before the data.
#include <glib.h>
#include <stdio.h>
static int flag, data_value;
static gpointer publish(gpointer data) {
    g_atomic_int_set(&flag, 1);
    data_value = 9; // races
    return NULL;
}
int main(void) {
    GThread *thread = g_thread_new("publish", publish, NULL);
    int seen = 0;
    if (g_atomic_int_get(&flag)) seen = data_value; // races
    else seen = data_value; // races
    g_thread_join(thread);
    printf("%d\n", seen >= 0);
}
