// The lock of a stream protects what is done under it, and closing a stream passes on what was done before.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2], lines, sent;

static void *write_line(void *unused) {
    FILE *out = fdopen(ends[1], "w");
    flockfile(stderr);
    lines++;
    funlockfile(stderr);
    fputs("go\n", out);
    sent = 1;
    fclose(out);
    return unused;
}

int main(void) {
    if (pipe(ends) != 0) return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, write_line, NULL);
    flockfile(stderr);
    lines++;
    funlockfile(stderr);
    FILE *in = fdopen(ends[0], "r");
    char line[16] = "";
    if (fgets(line, sizeof line, in) == NULL || sent != 1) return 1;
    pthread_join(thread, NULL);
    return lines != 2;
}
