// The producer goes on using what it has pushed.
#include <glib.h>
#include <stdio.h>
static GAsyncQueue *queue;
static gpointer consume(gpointer data) {
    int *item = g_async_queue_pop(queue);
    *item += 1; // races
    return item;
}
int main(void) {
    queue = g_async_queue_new();
    GThread *thread = g_thread_new("consume", consume, NULL);
    int *item = g_new(int, 1);
    *item = 1;
    g_async_queue_push(queue, item);
    *item = 2; // races
    item = g_thread_join(thread);
    printf("%d\n", *item > 0);
    g_free(item);
    g_async_queue_unref(queue);
}
