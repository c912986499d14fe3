// Races only the first time that it runs: the file in its argument tells. So it cannot be driven into the race. With `crash` it ends badly
// the first time instead, and with `always` every time.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int counter;

static void *count(void *unused) {
    counter++;
    return unused;
}

int main(int argc, char **argv) {
    int file = open(argv[1], O_CREAT | O_EXCL | O_WRONLY, 0600);
    const char *how = argc > 2 ? argv[2] : "";
    if (strcmp(how, "always") == 0 || (strcmp(how, "crash") == 0 && file >= 0)) {
        kill(getpid(), SIGKILL);
    }
    if (file < 0 || *how) {
        return 0;
    }
    pthread_t other;
    pthread_create(&other, 0, count, 0);
    counter++;
    pthread_join(other, 0);
    return 0;
}
