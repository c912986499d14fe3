// Formats that are not kept as texts: an empty one, a structure, zeros alone, and one that is an array of wider numbers.
#include <stdio.h>

struct greeting {
    char text[6];
    int number;
};
static const struct greeting greeting = {"hello", 7};
static const char *const texts[] = {"first\n", "second\n"};
static const char zeros[8];
static const union {
    int numbers[2];
    char text[8];
} numbers = {{0x000a6968, 0}};

int main(void) {
    puts("");
    printf("");
    printf(zeros);
    printf((const char *)&greeting);
    printf("%s", "");
    puts(greeting.text);
    printf(numbers.text);
    printf(texts[0]);
    printf(texts[1]);
    fprintf(stdout, "");
    return greeting.number;
}
