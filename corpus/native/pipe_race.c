// What is told through a pipe says nothing about a third thread.
// race: 15 19
#include <pthread.h>
#include <unistd.h>

int data, ends[2];

static void *send_token(void *unused) {
    char token = 1;
    return write(ends[1], &token, 1) == 1 ? unused : &data;
}
static void *receive_token(void *unused) {
    char token;
    if (read(ends[0], &token, 1) == 1)
        data = 1;
    return unused;
}
static void *bystander(void *unused) {
    data = 2;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&threads[0], 0, send_token, 0);
    pthread_create(&threads[1], 0, receive_token, 0);
    pthread_create(&threads[2], 0, bystander, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
