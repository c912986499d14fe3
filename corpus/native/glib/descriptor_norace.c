// The loop calls a function because another thread has closed the other end, or written to it; the function reads nothing.
#include <glib-unix.h>
#include <glib.h>
#include <stdio.h>
#include <unistd.h>
static int data, ends[2];
static GMainLoop *loop;
static gboolean notice(gint descriptor, GIOCondition condition, gpointer unused) {
    data++;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}
static gpointer close_it(gpointer unused) {
    data = 1;
    close(ends[1]);
    return NULL;
}
static gpointer write_to_it(gpointer unused) {
    data = 3;
    return write(ends[1], "x", 1) == 1 ? NULL : loop;
}
static void run(GThreadFunc other) {
    if (pipe(ends) != 0) return;
    g_unix_fd_add(ends[0], G_IO_IN | G_IO_HUP, notice, NULL);
    GThread *thread = g_thread_new("other", other, NULL);
    g_main_loop_run(loop);
    g_thread_join(thread);
}
int main(void) {
    loop = g_main_loop_new(NULL, FALSE);
    run(close_it);
    run(write_to_it);
    g_main_loop_unref(loop);
    printf("%d\n", data);
}
