// Two threads take turns by a condition; a third one waits with a time limit.
#include <glib.h>
#include <stdio.h>
static GMutex lock;
static GCond changed;
static int turn, value;
static gpointer play(gpointer data) {
    int own = GPOINTER_TO_INT(data);
    for (int i = 0; i < 4; i++) {
        g_mutex_lock(&lock);
        while (turn % 2 != own) g_cond_wait(&changed, &lock);
        value += own + 1;
        turn++;
        g_cond_broadcast(&changed);
        g_mutex_unlock(&lock);
    }
    return NULL;
}
static gpointer watch(gpointer data) {
    g_mutex_lock(&lock);
    gint64 end = g_get_monotonic_time() + 2 * G_TIME_SPAN_MILLISECOND;
    while (turn < 3)
        if (!g_cond_wait_until(&changed, &lock, end)) break;
    int seen = value;
    g_mutex_unlock(&lock);
    return GINT_TO_POINTER(seen);
}
int main(void) {
    GThread *one = g_thread_new("one", play, GINT_TO_POINTER(0));
    GThread *other = g_thread_new("other", play, GINT_TO_POINTER(1));
    GThread *third = g_thread_new("watch", watch, NULL);
    g_thread_join(one);
    g_thread_join(other);
    g_thread_join(third);
    printf("%d\n", value);
}
