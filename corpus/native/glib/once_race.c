// The value is changed after it was made once.
#include <glib.h>
#include <stdio.h>
static GOnce once = G_ONCE_INIT;
static int table;
static gpointer make(gpointer data) {
    table = 5;
    return &table;
}
static gpointer use(gpointer data) {
    int *value = g_once(&once, make, NULL);
    *value += 1; // races
    return NULL;
}
int main(void) {
    GThread *one = g_thread_new("one", use, NULL);
    GThread *other = g_thread_new("other", use, NULL);
    g_thread_join(one);
    g_thread_join(other);
    printf("%d\n", table);
}
