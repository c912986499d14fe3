// Handed over through a pair of sockets.
#include <pthread.h>
#include <sys/socket.h>

int data, ends[2];

static void *produce(void *unused) {
    char token = 1;
    data = 42;
    return send(ends[1], &token, 1, 0) == 1 ? unused : &data;
}
static void *consume(void *unused) {
    char token;
    if (recv(ends[0], &token, 1, 0) == 1)
        data++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&one, 0, produce, 0);
    pthread_create(&two, 0, consume, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
