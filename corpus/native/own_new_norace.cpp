// `operator new` and `delete` are the program's own, without hooks, and so is memory that the library gives back for it.
#include <thread>
#include <vector>

#define UNSEEN __attribute__((used, disable_sanitizer_instrumentation))
static char memory[1 << 20];
static unsigned long used;
struct block {
    struct block *next;
    unsigned long kind;
};
static struct block *blocks[24];
static int lock;

extern "C" UNSEEN void *pool_new(unsigned long bytes) {
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
extern "C" UNSEEN void pool_delete(void *content) {
    if ((char *)content < memory || (char *)content >= memory + sizeof memory)
        return;
    struct block *block = (struct block *)content - 1;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
    }
    block->next = blocks[block->kind];
    blocks[block->kind] = block;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}
__asm__(".globl _Znwm, _ZdlPv, _ZdlPvm\n.set _Znwm, pool_new\n.set _ZdlPv, pool_delete\n.set _ZdlPvm, pool_delete");

static long work(long number) {
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        long *one = new long(number + i);
        sum += *one;
        delete one;
        std::vector<long> many;
        for (int k = 0; k < 4; k++)
            many.push_back(k + number);
        sum += many.back();
    }
    return sum;
}

int main() {
    long sums[3] = {0, 0, 0};
    std::thread one([&sums] { sums[0] = work(1); });
    std::thread two([&sums] { sums[1] = work(2); });
    one.join();
    std::thread three([&sums] { sums[2] = work(3); });
    two.join();
    three.join();
    return sums[0] + sums[1] + sums[2] > 0 ? 0 : 1;
}
