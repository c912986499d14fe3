// A server of one request: the client waits for the answer on a socket.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int requests, ends[2];

static void *serve(void *unused) {
    struct epoll_event wanted = {.events = EPOLLIN}, found;
    char token;
    int poll = epoll_create1(0);
    epoll_ctl(poll, EPOLL_CTL_ADD, ends[1], &wanted);
    if (epoll_wait(poll, &found, 1, -1) == 1 && recv(ends[1], &token, 1, 0) == 1) {
        requests++;
        send(ends[1], &token, 1, 0);
    }
    close(poll);
    return unused;
}

int main(void) {
    pthread_t server;
    char token = 1;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    requests = 1;
    pthread_create(&server, 0, serve, 0);
    send(ends[0], &token, 1, 0);
    recv(ends[0], &token, 1, 0);
    requests++;
    pthread_join(server, 0);
    return requests - 3;
}
