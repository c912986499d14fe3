// What one thread writes to a terminal another reads at its other end.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int data, outer, inner;
static void *type(void *unused) {
    (void)unused;
    data = 1;
    return write(inner, "a", 1) == 1 ? NULL : "not written";
}
static void *watch(void *unused) {
    (void)unused;
    char typed;
    if (read(outer, &typed, 1) == 1) data++;
    return NULL;
}
int main(void) {
    pthread_t typing, watching;
    outer = posix_openpt(O_RDWR | O_NOCTTY);
    if (outer < 0 || grantpt(outer) != 0 || unlockpt(outer) != 0) return 0;
    inner = open(ptsname(outer), O_RDWR | O_NOCTTY);
    if (inner < 0) return 0;
    pthread_create(&typing, NULL, type, NULL);
    pthread_create(&watching, NULL, watch, NULL);
    pthread_join(typing, NULL);
    pthread_join(watching, NULL);
    return data != 2;
}
