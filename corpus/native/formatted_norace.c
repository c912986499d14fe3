// Threads format, parse and print shared texts, each time with the lock, also by a list of arguments. The text that is
// printed without it ends before what the other thread changes.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[64] = "none", apart[8] = "abcdefg";

static void say(const char *format, ...) {
    char line[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fputs(line, stderr);
}

static void *change(void *number) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        sprintf(name, "%s %d %.2f", (char *)number, round, 1.5 * round);
        say("%d %g %Lg %s %c %d %d %d\n", round, 2.5, 3.5L, name, 'c', 5, 6, 7);
        pthread_mutex_unlock(&lock);
    }
    apart[4] = 'E';
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, change, "one");
    pthread_mutex_lock(&lock);
    char word[16] = "";
    int round = -1, end = 0;
    int found = sscanf(name, "%15s %d %n", word, &round, &end);
    pthread_mutex_unlock(&lock);
    printf("%d %s %.4s\n", found, word, apart);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, change, "two");
    pthread_join(second, NULL);
    puts(name);
    return strcmp(name, "two 2 3.00") != 0;
}
