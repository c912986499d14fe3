// Items belong to the thread that has popped them.
#include <glib.h>
#include <stdio.h>
static GAsyncQueue *queue, *done;
static gpointer consume(gpointer data) {
    for (;;) {
        int *item = g_async_queue_pop(queue);
        if (*item < 0) {
            g_free(item);
            return NULL;
        }
        *item *= 2;
        g_async_queue_push(done, item);
    }
}
int main(void) {
    queue = g_async_queue_new();
    done = g_async_queue_new();
    GThread *threads[2];
    for (int i = 0; i < 2; i++) threads[i] = g_thread_new("consume", consume, NULL);
    for (int i = 0; i < 6; i++) {
        int *item = g_new(int, 1);
        *item = i;
        g_async_queue_push(queue, item);
    }
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        int *item = g_async_queue_pop(done);
        sum += *item;
        g_free(item);
    }
    for (int i = 0; i < 2; i++) {
        int *item = g_new(int, 1);
        *item = -1;
        g_async_queue_push(queue, item);
    }
    for (int i = 0; i < 2; i++) g_thread_join(threads[i]);
    printf("%d\n", sum);
}
