// Downloads in parts: two connections fetch, a disk thread writes what is there, and the window shows how far they are.
// hidden: 32 65
// hidden: 78 91
// race: 66 83
#include <pthread.h>

enum { PARTS = 6, BLOCKS = 7 };

static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t window_lock = PTHREAD_MUTEX_INITIALIZER;
static int fetched[PARTS], next_part, written, shown;
static int file_size;    // known by the first connection
static int write_errors; // of the disk
static int theme;        // of the window

static int claim_part(void) {
    pthread_mutex_lock(&parts_lock);
    int part = next_part < PARTS ? next_part++ : -1;
    pthread_mutex_unlock(&parts_lock);
    return part;
}

static void deliver(int part) {
    pthread_mutex_lock(&parts_lock);
    fetched[part] = 1;
    pthread_mutex_unlock(&parts_lock);
}

static void *connection(void *number) {
    if (*(int *)number == 0)
        file_size = PARTS * BLOCKS;
    for (int part = claim_part(); part >= 0; part = claim_part())
        deliver(part);
    return 0;
}

static void seek(int blocks) {
    for (int i = 0; i < blocks; i++) {
        pthread_mutex_lock(&disk_lock);
        written++;
        pthread_mutex_unlock(&disk_lock);
    }
}

static int is_fetched(int part) {
    pthread_mutex_lock(&parts_lock);
    int is = fetched[part];
    pthread_mutex_unlock(&parts_lock);
    return is;
}

static int write_part(int part) {
    if (!is_fetched(part))
        return 1;
    seek(1);
    return 0;
}

static void *disk(void *unused) {
    seek(4 * BLOCKS);
    int errors = 0;
    for (int part = PARTS - 1; part >= 0; part--)
        errors += write_part(part);
    if (file_size > PARTS)
        write_errors = errors;
    seek(1);
    return unused;
}

static void draw(int what) {
    pthread_mutex_lock(&window_lock);
    shown += what;
    pthread_mutex_unlock(&window_lock);
}

static void *window(void *unused) {
    theme = 2;
    for (int frame = 0; frame < 50; frame++)
        draw(1);
    seek(0);
    seek(1);
    if (write_errors > 3)
        draw(-1);
    return unused;
}

static void *settings(void *unused) {
    seek(10);
    draw(0);
    if (theme > 1)
        draw(2);
    return unused;
}

int main(void) {
    pthread_t threads[5];
    int numbers[2] = {0, 1};
    pthread_create(&threads[0], 0, connection, &numbers[0]);
    pthread_create(&threads[1], 0, connection, &numbers[1]);
    pthread_create(&threads[2], 0, window, 0);
    pthread_create(&threads[3], 0, disk, 0);
    pthread_create(&threads[4], 0, settings, 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], 0);
    return shown < 0;
}
