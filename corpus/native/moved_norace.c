// Memory that moves takes its content along, and its old place is somebody else's.
// options: -D_GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
int *block;

static void *fill(void *at) {
    for (int i = 0; i < 8; i++) ((int *)at)[i] = i;
    return 0;
}

int main(void) {
    int how = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    pthread_t one, two;
    block = mmap(0, PAGE, how, kind, -1, 0);
    int *elsewhere = mmap(0, 2 * PAGE, PROT_NONE, kind, -1, 0);
    pthread_create(&one, 0, fill, block);
    pthread_join(one, 0);
    int *moved = mremap(block, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
    int *other = mmap(block, PAGE, how, kind, -1, 0);
    pthread_create(&two, 0, fill, other);
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += moved[i]++;
    pthread_join(two, 0);
    return sum != 28 || other[7] != 7;
}
