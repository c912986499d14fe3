// All ways in which a program goes on elsewhere.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int steps, made, order[8], count;
static jmp_buf out;
static sigjmp_buf out_of_signal;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

__attribute__((constructor)) static void first(void) { made += 1; }
__attribute__((constructor(200))) static void earlier(void) { made *= 10; }
__attribute__((destructor)) static void last(void) { printf("destructor %d\n", made); }
static void at_exit(void) { printf("at exit %d\n", ++made); }

static int computed(const char *program) {
    static void *const labels[] = {&&add, &&twice, &&stop};
    int value = 1;
    goto *labels[program[0] - '0'];
add:
    value += 3;
    goto *labels[*++program - '0'];
twice:
    value *= 2;
    goto *labels[*++program - '0'];
stop:
    return value;
}

static int with_assembly(int value) {
    int result;
    __asm__ volatile("leal 1(%1), %0" : "=r"(result) : "r"(value));
    __asm__ volatile("" ::: "memory");
    __asm__ goto("testl %0, %0; jz %l1" : : "r"(result) : "cc" : zero);
    steps++;
    return result;
zero:
    steps += 100;
    return -1;
}

#if __clang__
static int odd(int n, int found);
static int even(int n, int found) {
    steps++;
    if (n == 0) return found;
    __attribute__((musttail)) return odd(n - 1, found + 1);
}
static int odd(int n, int found) {
    steps++;
    if (n == 0) return -found;
    __attribute__((musttail)) return even(n - 1, found + 1);
}
typedef int (*operation)(int n, int found);
static operation table[2] = {even, odd};
static int by_table(int n, int found) { __attribute__((musttail)) return table[n & 1](n, found); }
#endif

static void deeper(int depth) {
    steps++;
    if (depth == 0) longjmp(out, 5);
    deeper(depth - 1);
    steps += 1000;
}

static void handler(int signal) {
    count += signal == SIGUSR1;
    if (count == 2) siglongjmp(out_of_signal, 1);
}

static int compare(const void *one, const void *other) {
    count++;
    return *(const int *)one - *(const int *)other;
}

static void only_once(void) { steps += 7; }
static void destroy(void *value) { *(int *)value = 99; }
static void *thread(void *value) {
    pthread_setspecific(key, value);
    pthread_once(&once, only_once);
    pthread_once(&once, only_once);
    if (steps > 0) pthread_exit(value);
    return NULL;
}

static unsigned classify(long number) {
    switch (number) {
    case 0: return 1;
    case 1 ... 9: return 2;
    case 1L << 40: return 3;
    default: return number < 0 ? 4 : 5;
    }
}

int main(void) {
    atexit(at_exit);
    printf("%d %d %d\n", computed("01102"), with_assembly(4), with_assembly(-1));
    printf("%d %d\n", even(1000, 0), by_table(3, 1));
    volatile int kept = 3;
    int code = setjmp(out);
    if (code == 0) {
        kept = 4;
        deeper(3);
    }
    printf("%d %d %d\n", code, kept, steps);
    signal(SIGUSR1, handler);
    if (sigsetjmp(out_of_signal, 1) == 0) {
        raise(SIGUSR1);
        raise(SIGUSR1);
        printf("not reached\n");
    }
    int numbers[] = {5, 2, 8, 1, 9, 3}, wanted = 8;
    qsort(numbers, 6, sizeof *numbers, compare);
    int *found = bsearch(&wanted, numbers, 6, sizeof *numbers, compare);
    printf("%d %d %d\n", numbers[0], numbers[5], (int)(found - numbers));
    pthread_key_create(&key, destroy);
    int value = 1;
    pthread_t handle;
    pthread_create(&handle, NULL, thread, &value);
    void *result;
    pthread_join(handle, &result);
    printf("%d %d %d\n", value, result == &value, steps);
    for (long number = -1; number < 12; number += 3) order[classify(number)]++;
    printf("%d %d %d %d %u\n", order[1], order[2], order[4], order[5], classify(1L << 40));
    return count & 0x7F;
}
