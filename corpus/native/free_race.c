// One thread frees what the other still writes.
// race: 9 14
#include <pthread.h>
#include <stdlib.h>

int *block;

static void *write_it(void *unused) {
    *block = 1;
    return unused;
}
static void *free_it(void *unused) {
    // Nothing orders this after the write.
    free(block);
    return unused;
}

int main(void) {
    pthread_t one, two;
    block = malloc(sizeof *block);
    pthread_create(&one, 0, write_it, 0);
    pthread_create(&two, 0, free_it, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
