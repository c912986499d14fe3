// Loads, stores and copies of all kinds of types.
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef int vector __attribute__((vector_size(32)));
typedef float quad __attribute__((vector_size(16)));
typedef _Bool mask __attribute__((ext_vector_type(8)));
struct bits { unsigned a : 3; signed b : 7; unsigned long c : 40; _Bool d : 1; } bits;
struct __attribute__((packed)) packed { char a; int b; long c; } packed[2];
struct large { int content[40]; };
union mixed { float f; unsigned u; char c[4]; } mixed;
__int128 wide = 1;
_BitInt(37) thirty_seven = 5;
_BitInt(200) two_hundred = 7;
long double extended = 1.5L;
double _Complex complex_number = 1.0 + 2.0 * I;
_Float16 half = 1.5;
vector numbers = {1, 2, 3, 4, 5, 6, 7, 8};
quad floats = {1, 2, 3, 4};
mask flags;
volatile int seen = 3;
_Bool truth;
char text[64], other[64];
int matrix[3][4];
static __thread int own = 4;

static struct large make(int start) {
    struct large large;
    for (int k = 0; k < 40; k++) large.content[k] = start + k;
    return large;
}
static int take(struct large large, struct packed one) { return large.content[39] + one.b; }

static long sum(int count, ...) {
    va_list list, again;
    va_start(list, count);
    va_copy(again, list);
    long total = 0;
    for (int k = 0; k < count; k++) total += va_arg(list, int);
    for (int k = 0; k < count; k++) total += 10 * va_arg(again, int);
    total += (long)va_arg(list, double);
    total += va_arg(list, struct large).content[1];
    va_end(again);
    va_end(list);
    return total;
}

static int variable_length(int length) {
    int total = 0;
    for (int round = 1; round < 4; round++) {
        int room[length * round];
        memset(room, round, sizeof room);
        for (int k = 0; k < length * round; k++) total += room[k] & 0xFF;
    }
    return total;
}

static void copies(void) {
    strcpy(text, "the quick brown fox jumps over the lazy dog");
    memmove(text + 4, text, 20);
    memcpy(other, text, sizeof other);
    __builtin_memcpy_inline(other + 40, text, 8);
    memset(text + 30, 'x', 5);
    __builtin_memset_inline(text + 40, 'y', 2);
    for (volatile char *p = text; p < text + 3; p++) *p = 'v';
    printf("%.43s|%.50s\n", text, other);
    printf("%d %d\n", memcmp(text, other, 3) > 0, (int)strlen(other));
}

int main(void) {
    bits.a = 9;
    bits.b = -5;
    bits.c = 1UL << 39;
    bits.d = seen;
    bits.c += bits.a;
    printf("%u %d %lx %d\n", bits.a, bits.b, (unsigned long)bits.c, bits.d);
    packed[1].b = 77;
    packed[1].c = packed[1].b * 3L;
    packed[0] = packed[1];
    printf("%d %ld\n", packed[0].b, packed[0].c);
    struct large large = make(3), copy = large;
    printf("%d\n", take(copy, packed[0]));
    mixed.f = 1.0f;
    printf("%x %d\n", mixed.u, mixed.c[3]);
    wide = (wide << 70) + 5;
    printf("%lx %lx\n", (unsigned long)(wide >> 64), (unsigned long)wide);
    thirty_seven *= 1 << 20;
    two_hundred <<= 150;
    printf("%ld %ld\n", (long)thirty_seven, (long)(two_hundred >> 149));
    extended *= 2.25L;
    complex_number *= complex_number;
    half = half * (_Float16)2.5;
    printf("%.4Lf %.1f %.1f %.2f\n", extended, creal(complex_number), cimag(complex_number), (double)half);
    numbers = numbers * 3 + (numbers > 4);
    floats[seen] += 0.5f;
    quad shuffled = __builtin_shufflevector(floats, floats, 3, 2, 1, 0);
    flags = __builtin_convertvector(numbers > 9, mask);
    printf("%d %d %.1f %.1f %d%d\n", numbers[1], numbers[7], floats[3], shuffled[0], flags[0], flags[7]);
    truth = seen == 3;
    matrix[seen - 1][seen] = 8;
    printf("%d %d\n", truth, matrix[2][3]);
    int *address = &own;
    *address += 2;
    printf("%d\n", own);
    printf("%ld %d\n", sum(3, 1, 2, 3, 4.5, large), variable_length(5));
    copies();
}
