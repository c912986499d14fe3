// A hash table under a lock, and lookups at the same time once it is complete.
#include <glib.h>
#include <stdio.h>
static GHashTable *table;
static GMutex lock;
static gpointer fill(gpointer data) {
    g_mutex_lock(&lock);
    g_hash_table_insert(table, data, data);
    g_mutex_unlock(&lock);
    return NULL;
}
static gpointer look(gpointer data) { return g_hash_table_lookup(table, data); }
int main(void) {
    table = g_hash_table_new(g_direct_hash, g_direct_equal);
    GThread *one = g_thread_new("one", fill, GINT_TO_POINTER(1));
    GThread *other = g_thread_new("other", fill, GINT_TO_POINTER(2));
    g_thread_join(one);
    g_thread_join(other);
    one = g_thread_new("one", look, GINT_TO_POINTER(1));
    other = g_thread_new("other", look, GINT_TO_POINTER(2));
    int sum = GPOINTER_TO_INT(g_thread_join(one)) + GPOINTER_TO_INT(g_thread_join(other));
    g_hash_table_destroy(table);
    printf("%d\n", sum);
}
