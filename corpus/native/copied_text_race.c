// A text is copied to where another one compares.
// race: 11 15
#include <pthread.h>
#include <string.h>

char text[16] = "old";
char fresh[16] = "new";
int same;

static void *first(void *unused) {
    strcpy(text, fresh);
    return unused;
}
static void *second(void *unused) {
    same = strncmp(text, "old", 3) == 0;
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
