// A thread hands its result to the main loop.
#include <glib.h>
#include <stdio.h>
static GMainLoop *loop;
static int result;
static gboolean finish(gpointer data) {
    result += *(int *)data;
    g_free(data);
    if (result >= 3) g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}
static gpointer work(gpointer data) {
    for (int i = 1; i < 3; i++) {
        int *value = g_new(int, 1);
        *value = i;
        g_idle_add(finish, value);
    }
    return NULL;
}
int main(void) {
    loop = g_main_loop_new(NULL, FALSE);
    GThread *thread = g_thread_new("work", work, NULL);
    g_main_loop_run(loop);
    g_thread_join(thread);
    printf("%d\n", result);
}
