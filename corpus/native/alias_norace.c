// One memory at two addresses: a flag that is set at the one and seen at the other.
// options: -D_GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

int data;
atomic_int *here, *there;

static void *tell(void *unused) {
    data = 42;
    atomic_store_explicit(here, 1, memory_order_release);
    return unused;
}

static void *ask(void *unused) {
    while (!atomic_load_explicit(there, memory_order_acquire)) sched_yield();
    return data == 42 ? unused : &data;
}

int main(void) {
    int file = memfd_create("alias", 0);
    if (ftruncate(file, 4096) != 0) return 2;
    here = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    there = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pthread_t one, two;
    void *wrong;
    pthread_create(&one, 0, tell, 0);
    pthread_create(&two, 0, ask, 0);
    pthread_join(one, 0);
    pthread_join(two, &wrong);
    return wrong != 0;
}
