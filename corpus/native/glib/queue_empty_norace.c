// A queue that is empty has been emptied by a thread that needs the data no more.
#include <glib.h>
#include <stdio.h>
static int data;
static GAsyncQueue *queue;
static gpointer take(gpointer unused) {
    int seen = data;
    g_async_queue_pop(queue);
    return GINT_TO_POINTER(seen);
}
static gpointer overwrite(gpointer unused) {
    while (g_async_queue_length(queue) > 0) g_usleep(10);
    data = 1;
    return NULL;
}
int main(void) {
    queue = g_async_queue_new();
    g_async_queue_push(queue, GINT_TO_POINTER(1));
    GThread *taking = g_thread_new("take", take, NULL);
    GThread *overwriting = g_thread_new("overwrite", overwrite, NULL);
    g_thread_join(taking);
    g_thread_join(overwriting);
    g_async_queue_unref(queue);
    printf("%d\n", data);
}
