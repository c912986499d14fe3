// A hash table that two threads change without a lock.
#include <glib.h>
#include <stdio.h>
static GHashTable *table;
static gpointer fill(gpointer data) {
    g_hash_table_insert(table, data, data); // races
    return NULL;
}
int main(void) {
    table = g_hash_table_new(g_direct_hash, g_direct_equal);
    GThread *one = g_thread_new("one", fill, GINT_TO_POINTER(1));
    GThread *other = g_thread_new("other", fill, GINT_TO_POINTER(2));
    g_thread_join(one);
    g_thread_join(other);
    printf("%u\n", g_hash_table_size(table) > 0);
}
