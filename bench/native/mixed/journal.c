// Many write messages, one writes them out. The level is read without a lock, as everybody does it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITERS = 3, ROOM = 64, TEXT = 24 };

static int messages;
static struct message {
    int level, number;
    char text[TEXT];
} ring[ROOM];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int head, tail, dropped, sequence;
static int level = 1;
static int written;            // counted by the one who writes, shown by others
static char last[TEXT];        // the last message, for whoever attaches a debugger
static int lengths;

static void say(int at, const char *text) {
    if (at < level) return;
    pthread_mutex_lock(&lock);
    int number = sequence++;
    if (head - tail == ROOM) {
        dropped++;
        pthread_mutex_unlock(&lock);
        return;
    }
    struct message *message = &ring[head++ % ROOM];
    message->level = at;
    message->number = number;
    strcpy(message->text, text);
    pthread_mutex_unlock(&lock);
    memcpy(last, text, TEXT);
    lengths += 1;
}

static void *writer(void *argument) {
    char text[TEXT] = {0};
    int self = *(int *)argument;
    for (int i = 0; i < messages; i++) {
        text[0] = (char)('a' + self);
        text[1] = (char)('a' + i);
        say(i % 3, text);
        if (i == messages / 2) level = 1 + self % 2;
    }
    return NULL;
}

static void *drain(void *unused) {
    int sum = 0;
    for (int round = 0; round < 12; round++) {
        struct message message = {0};
        pthread_mutex_lock(&lock);
        int any = head != tail;
        if (any) message = ring[tail++ % ROOM];
        pthread_mutex_unlock(&lock);
        if (any) {
            sum += message.number;
            written++;
        }
    }
    lengths = sum;
    return unused;
}

int main(int argc, char **argv) {
    pthread_t writers[WRITERS], drainer;
    int numbers[WRITERS];
    messages = argc > 1 ? atoi(argv[1]) : 4;
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        pthread_create(&writers[i], NULL, writer, &numbers[i]);
    }
    pthread_create(&drainer, NULL, drain, NULL);
    int seen = written;
    for (int i = 0; i < WRITERS; i++) pthread_join(writers[i], NULL);
    pthread_join(drainer, NULL);
    printf("%d of %d written, %d seen early, %d dropped\n", written, sequence, seen, dropped);
    return 0;
}
