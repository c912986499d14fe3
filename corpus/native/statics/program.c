// What `flag` and the others hold at first is known unless code without hooks may have written it by the time of their first access. The worker
// sleeps, so that the first read of the flag comes last in the recorded run.
#include <pthread.h>
#include <unistd.h>

void set_unseen(int *variable, int value);

#ifdef IN_A_CONSTRUCTOR
static int flag;
__attribute__((constructor)) static void construct(void) { set_unseen(&flag, 3); }
#else
static int flag = FIRST;
#endif

static int data;
// Nobody touches it, so it costs nothing but an address.
static char large[1 << 30];

static void *nothing(void *unused) { return unused; }

static void *worker(void *unused) {
    usleep(1000);
    if (flag < 5) // asked
        data = 2; // worker
    return unused;
}

int main(void) {
    pthread_t one, two;
#ifdef BEFORE_THREADS
    set_unseen(&flag, BEFORE_THREADS);
#endif
    pthread_create(&one, 0, nothing, 0);
    pthread_join(one, 0);
#ifdef AMONG_THREADS
    set_unseen(&flag, AMONG_THREADS);
#endif
    pthread_create(&two, 0, worker, 0);
    data = 1; // main
    flag = 1;
    pthread_join(two, 0);
    return large[data] != 0;
}
