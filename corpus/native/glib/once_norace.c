// What is made once is only read afterwards: by GOnce, and by g_once_init_enter.
#include <glib.h>
#include <stdio.h>
static GOnce once = G_ONCE_INIT;
static int table;
static gsize other;
static int squares[4];
static gpointer make(gpointer data) {
    table = 5;
    return &table;
}
static gpointer use(gpointer data) {
    int *value = g_once(&once, make, NULL);
    if (g_once_init_enter(&other)) {
        for (int i = 0; i < 4; i++) squares[i] = i * i;
        g_once_init_leave(&other, 1);
    }
    return GINT_TO_POINTER(*value + squares[3]);
}
int main(void) {
    GThread *threads[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) threads[i] = g_thread_new("use", use, NULL);
    for (int i = 0; i < 3; i++) sum += GPOINTER_TO_INT(g_thread_join(threads[i]));
    printf("%d\n", sum);
}
