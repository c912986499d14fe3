// Two threads race for a while; then the program makes the file that its argument names, if any, and sleeps for ever.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

int counter;

static void *count(void *unused) {
    for (int i = 0; i < 20000; i++)
        counter++;
    return unused;
}

int main(int argc, char **argv) {
    pthread_t one, two;
    pthread_create(&one, 0, count, 0);
    pthread_create(&two, 0, count, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    if (argc > 1)
        close(creat(argv[1], 0600));
    for (;;)
        sleep(1);
}
