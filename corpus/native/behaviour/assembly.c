// Code of which there may be one in the program only, and what it calls.
#include <stdarg.h>
#include <stdio.h>

int shared[64];

// Assembly that only aligns may be there twice, and so may labels that are numbers.
__attribute__((noinline)) int aligned(int from) {
    int sum = 0;
    for (int i = from; i < 64; i++) {
        __asm__ volatile(".p2align 4\n1: nop; 2:nop\n");
        sum += shared[i];
    }
    return sum;
}

// A symbol may not.
__attribute__((noinline)) int with_a_symbol(int from) {
    __asm__ volatile("in_the_midst_of_it:");
    return shared[from];
}

static __attribute__((noinline)) int called_by_the_only_one(int index) {
    return shared[index] + shared[index + 1];
}

__attribute__((noinline)) int variadic(int count, ...) {
    va_list arguments;
    int sum = 0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++) sum += called_by_the_only_one(va_arg(arguments, int));
    va_end(arguments);
    return sum;
}

int main(void) {
    for (int i = 0; i < 64; i++) shared[i] = i;
    printf("%d %d %d\n", aligned(60), with_a_symbol(7), variadic(3, 1, 10, 20));
    return 0;
}
