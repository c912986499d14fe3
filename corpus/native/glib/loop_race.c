// A source of the main loop and a thread write the same variable.
#include <glib.h>
#include <stdio.h>
static GMainLoop *loop;
static int state;
static gboolean finish(gpointer data) {
    state = 2; // races
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}
static gpointer work(gpointer data) {
    g_idle_add(finish, NULL);
    state = 1; // races
    return NULL;
}
int main(void) {
    loop = g_main_loop_new(NULL, FALSE);
    GThread *thread = g_thread_new("work", work, NULL);
    g_main_loop_run(loop);
    g_thread_join(thread);
    printf("%d\n", state);
}
