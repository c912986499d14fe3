// A writer takes the lock as a reader.
#include <glib.h>
#include <stdio.h>
static GRWLock lock;
static int entries;
static gpointer add(gpointer data) {
    g_rw_lock_reader_lock(&lock);
    entries++; // races
    g_rw_lock_reader_unlock(&lock);
    return data;
}
int main(void) {
    GThread *one = g_thread_new("one", add, NULL);
    GThread *other = g_thread_new("other", add, NULL);
    g_thread_join(one);
    g_thread_join(other);
    printf("%d\n", entries);
}
