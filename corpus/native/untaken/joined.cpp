// A thread that was joined or detached is none any more: the library writes that into objects of the program.
#include <pthread.h>
#include <thread>

int go, x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t both;

static void nothing() {}

static void *one(void *unused) {
    pthread_barrier_wait(&both);
    x = 1;
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *two(void *unused) {
    // Nobody else knows them.
    std::thread *threads = new std::thread[2];
    threads[0] = std::thread(nothing);
    threads[1] = std::thread(nothing);
    // Threads get the memory of others that have ended, and come after them. The first one has not ended yet.
    pthread_barrier_wait(&both);
    threads[0].join();
    threads[1].detach();
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    if (seen == 0) {
        if (threads[0].joinable())
            x = 2;
        if (threads[1].joinable())
            x = 3;
    }
    delete[] threads;
    return unused;
}

int main() {
    go = 0;
    pthread_barrier_init(&both, nullptr, 2);
    pthread_t a, b;
    pthread_create(&a, nullptr, one, nullptr);
    pthread_create(&b, nullptr, two, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    return 0;
}
