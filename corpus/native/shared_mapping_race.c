// Memory that could be seen by others, but there is nobody else yet.
// race: 9 9
#include <pthread.h>
#include <sys/mman.h>

int *counter;

static void *work(void *unused) {
    ++*counter;
    return unused;
}

int main(void) {
    counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return munmap(counter, 4096);
}
