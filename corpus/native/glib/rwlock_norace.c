// Readers and writers.
#include <glib.h>
#include <stdio.h>
static GRWLock lock;
static int entries;
static gpointer add(gpointer data) {
    for (int i = 0; i < 3; i++) {
        g_rw_lock_writer_lock(&lock);
        entries++;
        g_rw_lock_writer_unlock(&lock);
    }
    return data;
}
static gpointer look(gpointer data) {
    int most = 0;
    for (int i = 0; i < 3; i++) {
        g_rw_lock_reader_lock(&lock);
        if (entries > most) most = entries;
        g_rw_lock_reader_unlock(&lock);
    }
    return GINT_TO_POINTER(most);
}
int main(void) {
    GThread *threads[] = {g_thread_new("add", add, NULL), g_thread_new("look", look, NULL), g_thread_new("look", look, NULL)};
    for (int i = 0; i < 3; i++) g_thread_join(threads[i]);
    printf("%d\n", entries);
}
