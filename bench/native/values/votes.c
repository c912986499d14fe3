// Who votes is noted first, then votes are counted under a lock. Who looks at the count before it is enough looks at the notes, too; afterwards there
// is a result to be published.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t box = PTHREAD_MUTEX_INITIALIZER;
static short yes, no, asked, last, result;
static volatile short seen;

static void *vote(void *argument) {
    short who = *(short *)argument;
    asked++;
    last = who;
    pthread_mutex_lock(&box);
    if (who & 1)
        yes++;
    else
        no++;
    pthread_mutex_unlock(&box);
    return 0;
}

static void *press(void *unused) {
    usleep(1000);
    pthread_mutex_lock(&box);
    short total = yes + no;
    pthread_mutex_unlock(&box);
    if (total < 3) {
        seen = asked;
        last = 0;
    } else {
        result = 1;
        asked = 0;
    }
    return 0;
}

static void *reader(void *unused) {
    seen = result;
    return 0;
}

int main(void) {
    pthread_t threads[5];
    static short who[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, vote, &who[i]);
    pthread_create(&threads[3], 0, press, 0);
    pthread_create(&threads[4], 0, reader, 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], 0);
    return 0;
}
