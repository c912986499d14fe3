// Messages on the heap, handed over under a mutex. Addresses come again, but a message is another each time: whoever
// gets one can only mean that which is there now.
#include <pthread.h>
#include <stdlib.h>

enum { ROUNDS = 12 };
struct message { int content[4]; };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct message *slot;

static void *producer(void *number) {
    for (int i = 0; i < ROUNDS; i++) {
        struct message *message = malloc(sizeof *message);
        for (int k = 0; k < 4; k++)
            message->content[k] = (int)(long)number + i;
        int done = 0;
        while (!done) {
            pthread_mutex_lock(&mutex);
            if (!slot) {
                slot = message;
                done = 1;
            }
            pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, producer, (void *)100);
    pthread_create(&two, NULL, producer, (void *)200);
    int sum = 0;
    for (int taken = 0; taken < 2 * ROUNDS;) {
        pthread_mutex_lock(&mutex);
        struct message *message = slot;
        slot = NULL;
        pthread_mutex_unlock(&mutex);
        if (message) {
            sum += message->content[0] + message->content[3];
            free(message);
            taken++;
        }
    }
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return sum == 0;
}
