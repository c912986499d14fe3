// Each thread maps memory, uses it and gives it back; the kernel hands out the same again.
#include <pthread.h>
#include <sys/mman.h>

static void *work(void *unused) {
    for (int round = 0; round < 3; round++) {
        int *mine = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *mine = round;
        ++*mine;
        munmap(mine, 4096);
    }
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
