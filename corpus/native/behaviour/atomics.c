// options: -mcx16 -latomic
// Atomic operations on all kinds of types.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned __int128 wide;
struct three { char bytes[3]; };
struct pair { int64_t first, second; };

static _Atomic(int8_t) i8 = 100;
static _Atomic(uint16_t) u16 = 7;
static _Atomic(int32_t) i32 = -5;
static _Atomic(uint64_t) u64 = 1;
static _Atomic(float) f32 = 1.5f;
static _Atomic(double) f64 = 2.5;
static _Atomic(long double) extended = 3.25L;
static _Atomic(_Bool) flag;
static _Atomic(int *) pointer;
static _Alignas(16) wide big = 5;
static _Atomic(struct three) odd;
static _Atomic(struct pair) two;
static int numbers[4] = {1, 2, 3, 4};

static void integers(void) {
    printf("%d %d\n", atomic_fetch_add(&i8, 100), i8);
    printf("%d %d\n", atomic_fetch_sub(&u16, 9), u16);
    printf("%d %d\n", __atomic_fetch_max((int32_t *)&i32, 3, __ATOMIC_RELAXED), i32);
    printf("%d %d\n", __atomic_fetch_min((int32_t *)&i32, -9, __ATOMIC_ACQ_REL), i32);
    printf("%lu %lu\n", (unsigned long)atomic_fetch_or(&u64, 6), (unsigned long)u64);
    printf("%lu %lu\n", (unsigned long)atomic_fetch_xor(&u64, 5), (unsigned long)u64);
    printf("%lu\n", (unsigned long)__atomic_nand_fetch((uint64_t *)&u64, 3, __ATOMIC_SEQ_CST));
    uint64_t expected = 0, other = u64;
    printf("%d ", atomic_compare_exchange_strong(&u64, &expected, 9));
    printf("%d ", expected == other);
    printf("%d %lu\n", atomic_compare_exchange_strong(&u64, &expected, 9), (unsigned long)u64);
    printf("%d %d\n", atomic_exchange(&flag, 1), flag);
}

static void floats(void) {
    f32 += 1.25f;
    f64 -= 0.5;
    f64 *= 3;
    extended += 0.5L;
    printf("%.3f %.3f %.3Lf\n", (double)f32, (double)f64, (long double)extended);
    float old = atomic_exchange(&f32, -1.0f);
    printf("%.3f %.3f\n", (double)old, (double)f32);
}

static void pointers(void) {
    atomic_store(&pointer, numbers);
    int *before = atomic_fetch_add(&pointer, 2);
    printf("%d %d\n", *before, *atomic_load(&pointer));
}

static void wides(void) {
    wide expected = 5, desired = ((wide)1 << 100) + 3;
    int done = __atomic_compare_exchange_n(&big, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    printf("%d %lx\n", done, (unsigned long)(big >> 64));
    done = __atomic_compare_exchange_n(&big, &expected, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    printf("%d %lx\n", done, (unsigned long)(expected >> 64));
    __atomic_store_n(&big, (wide)1 << 65, __ATOMIC_RELEASE);
    wide found = __atomic_load_n(&big, __ATOMIC_ACQUIRE);
    found += __atomic_fetch_add(&big, 7, __ATOMIC_SEQ_CST);
    printf("%lx %lx\n", (unsigned long)(found >> 64), (unsigned long)__atomic_exchange_n(&big, 1, __ATOMIC_RELAXED));
}

static void structures(void) {
    struct three three = {{1, 2, 3}};
    atomic_store(&odd, three);
    three.bytes[1] = 9;
    struct three was = atomic_exchange(&odd, three);
    printf("%d %d\n", was.bytes[1], atomic_load(&odd).bytes[1]);
    struct pair pair = {1, 2};
    atomic_store(&two, pair);
    printf("%d\n", (int)(atomic_load(&two).first + atomic_load(&two).second));
}

int main(void) {
    integers();
    floats();
    pointers();
    wides();
    structures();
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
}
