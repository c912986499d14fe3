// Locks that each thread reaches at an address of its own, made by hand or by the library, and data of which the same is true.
// options: -D_GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

struct page {
    atomic_flag spin;
    pthread_mutex_t mutex;
    int under_mutex;
} *pages[2];
int under_spin;

static void *work(void *mine) {
    struct page *page = mine;
    for (int i = 0; i < 3; i++) {
        while (atomic_flag_test_and_set_explicit(&page->spin, memory_order_acquire)) sched_yield();
        under_spin++;
        atomic_flag_clear_explicit(&page->spin, memory_order_release);
        pthread_mutex_lock(&page->mutex);
        page->under_mutex++;
        pthread_mutex_unlock(&page->mutex);
    }
    return 0;
}

int main(void) {
    int file = memfd_create("alias", 0);
    if (ftruncate(file, 4096) != 0) return 2;
    pages[0] = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pages[1] = mremap(pages[0], 0, 4096, MREMAP_MAYMOVE);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&pages[0]->mutex, &shared);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, pages[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return under_spin != 6 || pages[0]->under_mutex != 6;
}
