// Each thread allocates, writes and frees; the allocator gives the second the memory of the first.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) {
    for (int i = 0; i < 5; i++) {
        int *block = malloc(24);
        *block = i;
        free(block);
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
