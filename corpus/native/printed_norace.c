// What one thread prints comes back to another through a pipe.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int data, ends[2];
static void *print(void *unused) {
    (void)unused;
    data = 1;
    puts("go");
    fflush(stdout);
    return NULL;
}
static void *wait_for_it(void *unused) {
    (void)unused;
    char text[3];
    if (read(ends[0], text, sizeof text) == sizeof text) data++;
    return NULL;
}
int main(void) {
    pthread_t printing, waiting;
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return 2;
    pthread_create(&printing, NULL, print, NULL);
    pthread_create(&waiting, NULL, wait_for_it, NULL);
    pthread_join(printing, NULL);
    pthread_join(waiting, NULL);
    return data != 2;
}
