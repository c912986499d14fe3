// A game: input, physics, network and drawing run in threads of their own; each has a lock, and some settings have none.
// hidden: 56 90
// hidden: 67 93
// race: 60 89
#include <pthread.h>

enum { BODIES = 4, STEPS = 6 };

struct body {
    pthread_mutex_t lock;
    int place, speed;
};

static struct body bodies[BODIES];
static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t net_lock = PTHREAD_MUTEX_INITIALIZER;
static int keys, packets;
static int difficulty;  // chosen by input
static int gravity;     // set by physics
static int server_time; // set by the network
static int frames;      // counted by drawing and physics, unguarded

static void press(int key) {
    pthread_mutex_lock(&input_lock);
    keys |= 1 << key;
    pthread_mutex_unlock(&input_lock);
}

static int read_keys(void) {
    pthread_mutex_lock(&input_lock);
    int pressed = keys;
    pthread_mutex_unlock(&input_lock);
    return pressed;
}

static void move_body(struct body *body) {
    pthread_mutex_lock(&body->lock);
    body->place += body->speed + gravity;
    pthread_mutex_unlock(&body->lock);
}

static void send(int packet) {
    pthread_mutex_lock(&net_lock);
    packets += packet;
    pthread_mutex_unlock(&net_lock);
}

static void *input(void *unused) {
    difficulty = 2;
    for (int key = 0; key < 5; key++)
        press(key);
    return unused;
}

static void *physics(void *unused) {
    gravity = 1;
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < BODIES; i++)
            move_body(&bodies[i]);
    frames++;
    if (read_keys() > 0 && difficulty > 1)
        send(1);
    return unused;
}

static void *network(void *unused) {
    server_time = 99;
    for (int packet = 0; packet < 10; packet++)
        send(packet);
    return unused;
}

static int look_at(struct body *body) {
    pthread_mutex_lock(&body->lock);
    int place = body->place;
    pthread_mutex_unlock(&body->lock);
    return place;
}

static void *drawing(void *unused) {
    static pthread_mutex_t texture_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int texture = 0; texture < 50; texture++) {
        pthread_mutex_lock(&texture_lock);
        pthread_mutex_unlock(&texture_lock);
    }
    int sum = 0;
    for (int i = 0; i < BODIES; i++)
        sum += look_at(&bodies[i]);
    frames++;
    if (gravity)
        sum--;
    send(0);
    if (server_time > 0)
        send(sum % 2);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    void *(*all[4])(void *) = {input, network, physics, drawing};
    for (int i = 0; i < BODIES; i++)
        pthread_mutex_init(&bodies[i].lock, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, all[i], 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return packets < 0;
}
