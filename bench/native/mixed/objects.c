// Objects that are shared by counting who uses them. The count has a lock; what an object looks like has none; statistics have one of their own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 4, THREADS = 3 };

static int steps;
static struct object {
    pthread_mutex_t lock;
    int users, uses;
    int colour, size;
} *objects[OBJECTS];

static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static int taken, given_back;
static int favourite;
static int repaint = 1;

static struct object *take(int number) {
    struct object *object = objects[number];
    pthread_mutex_lock(&object->lock);
    object->users++;
    object->uses++;
    pthread_mutex_unlock(&object->lock);
    pthread_mutex_lock(&statistics);
    taken++;
    pthread_mutex_unlock(&statistics);
    return object;
}

static void give_back(struct object *object) {
    pthread_mutex_lock(&object->lock);
    object->users--;
    pthread_mutex_unlock(&object->lock);
    pthread_mutex_lock(&statistics);
    given_back++;
    pthread_mutex_unlock(&statistics);
}

static void *user(void *argument) {
    unsigned state = *(unsigned *)argument;
    for (int i = 0; i < steps; i++) {
        state = state * 1103515245 + 12345;
        int number = (int)(state >> 16) % OBJECTS;
        struct object *object = take(number);
        if (repaint) object->colour = (int)(state >> 24);
        object->size = i;
        give_back(object);
        if (i % 7 == 6) favourite = number;
    }
    return NULL;
}

static void *painter(void *unused) {
    for (int i = 0; i < OBJECTS; i++) {
        struct object *object = take(i);
        int size = object->size;
        object->colour = size * 2;
        give_back(object);
    }
    repaint = 0;
    favourite = -1;
    return unused;
}

int main(int argc, char **argv) {
    pthread_t users[THREADS], paint;
    unsigned seeds[THREADS] = {21, 22, 23};
    steps = argc > 1 ? atoi(argv[1]) : 3;
    for (int i = 0; i < OBJECTS; i++) {
        objects[i] = calloc(1, sizeof *objects[i]);
        pthread_mutex_init(&objects[i]->lock, NULL);
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&users[i], NULL, user, &seeds[i]);
    pthread_create(&paint, NULL, painter, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(users[i], NULL);
    pthread_join(paint, NULL);
    printf("%d taken, %d given back, favourite %d\n", taken, given_back, favourite);
    for (int i = 0; i < OBJECTS; i++) free(objects[i]);
    return 0;
}
