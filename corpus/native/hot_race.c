// Four threads hammer one variable.
// race: 9 9
#include <pthread.h>

long hot;

static void *work(void *unused) {
    for (int i = 0; i < 2000; i++)
        hot = hot * 3 + 1;
    return unused;
}

int main(void) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], 0);
    return 0;
}
