// The program has an allocator of its own, which is instrumented like the rest of it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN __attribute__((used))
static char memory[1 << 20];
static unsigned long used;
struct block {
    struct block *next;
    unsigned long kind;
};
static struct block *blocks[24];
static int lock;

UNSEEN void *pool_malloc(unsigned long bytes) {
    unsigned long kind = 5;
    while ((1UL << kind) < bytes + sizeof(struct block))
        kind++;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
    }
    struct block *block = blocks[kind];
    if (block) {
        blocks[kind] = block->next;
    } else {
        block = (struct block *)(memory + used);
        used += 1UL << kind;
    }
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    block->kind = kind;
    return block + 1;
}
UNSEEN void pool_free(void *content) {
    if ((char *)content < memory || (char *)content >= memory + sizeof memory)
        return;
    struct block *block = (struct block *)content - 1;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
    }
    block->next = blocks[block->kind];
    blocks[block->kind] = block;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}
UNSEEN void *pool_calloc(unsigned long count, unsigned long bytes) {
    unsigned char *content = pool_malloc(count * bytes);
    for (unsigned long i = 0; i < count * bytes; i++)
        ((volatile unsigned char *)content)[i] = 0;
    return content;
}
UNSEEN void *pool_realloc(void *old, unsigned long bytes) {
    unsigned char *content = pool_malloc(bytes);
    unsigned long size = old ? (1UL << ((struct block *)old - 1)->kind) - sizeof(struct block) : 0;
    for (unsigned long i = 0; i < size && i < bytes; i++)
        ((volatile unsigned char *)content)[i] = ((unsigned char *)old)[i];
    pool_free(old);
    return content;
}
// Who calls these is told no more than in another file.
__asm__(".globl malloc, free, calloc, realloc\n"
        ".set malloc, pool_malloc\n.set free, pool_free\n.set calloc, pool_calloc\n.set realloc, pool_realloc");

static void *work(void *number) {
    for (int i = 0; i < 3; i++) {
        long *block = malloc(5 * sizeof(long));
        block[0] = i;
        block[1] = block[0] + (long)number;
        free(block);
        char *text = strdup("text");
        text[1] = 'a';
        free(text);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&two, 0, work, (void *)2);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
