// The first thread waits in a function of the C library that blocks where the recorder does not see it.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];

static void *tell(void *unused) {
    return write(ends[1], "x\n", 2) == 2 ? unused : ends;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 2;
    FILE *in = fdopen(ends[0], "r");
    pthread_create(&thread, 0, tell, 0);
    int got = fgetc(in);
    pthread_join(thread, 0);
    return got != 'x';
}
