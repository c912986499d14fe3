// A line that goes through a stream to another thread orders what was done before it was written.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2], ready;

static void *produce(void *unused) {
    FILE *out = fdopen(ends[1], "w");
    ready = 42;
    fprintf(out, "%s\n", "go");
    fflush(out);
    return unused;
}

int main(void) {
    if (pipe(ends) != 0) return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    FILE *in = fdopen(ends[0], "r");
    char line[16] = "";
    if (fgets(line, sizeof line, in) == NULL || ready != 42) return 1;
    pthread_join(thread, NULL);
    return 0;
}
