// Prints in which order its threads took turns, and where their memory was: the same seed must give the same, whatever is looked at meanwhile.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, STEPS = 1500 };

static atomic_uint next_step;
static unsigned char order[THREADS * STEPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t addresses;
static int unguarded;

static void *work(void *argument) {
    unsigned char me = (unsigned char)(uintptr_t)argument;
    for (int i = 0; i < STEPS; i++) {
        order[atomic_fetch_add(&next_step, 1)] = me;
        unguarded++;
        if (i % 16 == 0) {
            char *block = malloc((size_t)(8 + i % 100));
            block[0] = 1;
            pthread_mutex_lock(&lock);
            addresses = addresses * 31 + (uintptr_t)block + (uintptr_t)&me;
            pthread_mutex_unlock(&lock);
            free(block);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    uint64_t turns = 0;
    for (int i = 0; i < THREADS * STEPS; i++) turns = turns * 31 + order[i];
    printf("%llx %llx %d\n", (unsigned long long)turns, (unsigned long long)addresses, unguarded);
    return 0;
}
