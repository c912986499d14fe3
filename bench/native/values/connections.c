// A server notes who calls, numbers the connections under a lock, and refuses those beyond a limit. A monitor looks at the notes as long as there is
// little to do, and clears them when there is much.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static int accepted, refused, longest, caller;
static volatile int shown;

static void connect_as(int who, int seconds) {
    caller = who;
    if (seconds > longest)
        longest = seconds;
    pthread_mutex_lock(&door);
    int number = ++accepted;
    pthread_mutex_unlock(&door);
    if (number > 3)
        refused++;
}

static void *client(void *seconds) {
    connect_as(1, *(int *)seconds);
    return 0;
}

static void *monitor(void *unused) {
    usleep(1000);
    pthread_mutex_lock(&door);
    int number = accepted;
    pthread_mutex_unlock(&door);
    if (number < 9) {
        shown = caller;
        if (longest < 60)
            shown = longest;
    } else {
        refused = 0;
        longest = 0;
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    static int seconds[2] = {4, 6};
    pthread_create(&threads[0], 0, client, &seconds[0]);
    pthread_create(&threads[1], 0, client, &seconds[1]);
    pthread_create(&threads[2], 0, monitor, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
