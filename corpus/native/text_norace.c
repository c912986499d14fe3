// A text grows at its end while its beginning is read: the reader stops before.
#include <pthread.h>
#include <string.h>

char text[32] = "ready";
char rest[8] = "steady";
int same;

static void *first(void *unused) {
    strcpy(text + 8, rest);
    return unused;
}
static void *second(void *unused) {
    same = strcmp(text, "ready") == 0 && strlen(text) == 5 && memcmp(text, "rest of it, if it were", 20) != 0;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
