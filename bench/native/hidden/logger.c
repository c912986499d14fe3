// A logger: whoever logs formats its line in a buffer of its own, and appends it under a lock. Settings are changed while others log.
// hidden: 30 47
// hidden: 31 48
// hidden: 66 77
#include <pthread.h>
#include <string.h>

enum { LINES = 64, LENGTH = 32 };

static char lines[LINES][LENGTH];
static int used;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t rotate_lock = PTHREAD_MUTEX_INITIALIZER;
static int rotations;
static int level;              // changed by the setup
static char prefix[8] = "app"; // changed by the setup, too
static int rotate_at;          // of the rotation

static void append(const char *text) {
    char line[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        line[i] = *text ? *text++ : ' ';
    pthread_mutex_lock(&log_lock);
    if (used < LINES)
        memcpy(lines[used++], line, sizeof line);
    pthread_mutex_unlock(&log_lock);
}

static void *setup(void *unused) {
    level = 2;
    prefix[0] = 'A';
    append("settings changed");
    return unused;
}

static void parse_request(int fields) {
    static pthread_mutex_t parser_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < fields; i++) {
        pthread_mutex_lock(&parser_lock);
        pthread_mutex_unlock(&parser_lock);
    }
}

static void serve(int request) {
    parse_request(20);
    append("request");
    if (level > 1)
        if (prefix[0] < 'a')
            append("request in detail");
    parse_request(request);
}

static void *server(void *unused) {
    for (int request = 0; request < 2; request++)
        serve(request);
    return unused;
}

static void rotate(void) {
    pthread_mutex_lock(&rotate_lock);
    rotations++;
    pthread_mutex_unlock(&rotate_lock);
}

static void *rotation(void *unused) {
    rotate_at = LINES / 2;
    rotate();
    for (int i = 0; i < 6; i++)
        append("tick");
    return unused;
}

static void *watchdog(void *unused) {
    for (int i = 0; i < 15; i++)
        append("watching");
    rotate();
    if (rotate_at > 0)
        append("rotation is on");
    return unused;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], 0, setup, 0);
    pthread_create(&threads[1], 0, rotation, 0);
    pthread_create(&threads[2], 0, server, 0);
    pthread_create(&threads[3], 0, watchdog, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return used == 0;
}
