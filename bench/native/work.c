// Work for the benchmark of the recorder: four threads that sum arrays, fill and search hash tables, and sort, and that
// meet at a lock after every so many operations. The argument is how many rounds each thread makes.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, NUMBERS = 2048, BUCKETS = 1024, MEETING = 64 };

static int shared_numbers[NUMBERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;
static int rounds;

typedef struct {
    uint64_t random;
    int numbers[NUMBERS];
    uint32_t keys[BUCKETS];
    uint32_t counts[BUCKETS];
} State;

static uint32_t draw(State *state) {
    state->random = state->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state->random >> 33);
}

static uint64_t sum(const int *numbers, int count) {
    uint64_t result = 0;
    for (int i = 0; i < count; i++) result += (uint64_t)numbers[i];
    return result;
}

static void count(State *state, uint32_t key) {
    uint32_t at = key * 2654435761u % BUCKETS;
    while (state->counts[at] && state->keys[at] != key) at = (at + 1) % BUCKETS;
    state->keys[at] = key;
    state->counts[at]++;
}

static void sort(int *numbers, int low, int high) {
    while (low < high) {
        int i = low, j = high, pivot = numbers[(low + high) / 2];
        while (i <= j) {
            while (numbers[i] < pivot) i++;
            while (numbers[j] > pivot) j--;
            if (i <= j) {
                int other = numbers[i];
                numbers[i++] = numbers[j];
                numbers[j--] = other;
            }
        }
        if (j - low < high - i) {
            sort(numbers, low, j);
            low = i;
        } else {
            sort(numbers, i, high);
            high = j;
        }
    }
}

static void meet(uint64_t found) {
    pthread_mutex_lock(&lock);
    total += found;
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument) {
    State *state = argument;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < NUMBERS; i++) {
            state->numbers[i] = (int)draw(state);
            count(state, draw(state) % (BUCKETS / 2));
            if (i % MEETING == 0) meet(1);
        }
        sort(state->numbers, 0, NUMBERS - 1);
        meet(sum(state->numbers, NUMBERS) + sum(shared_numbers, NUMBERS));
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    rounds = count > 1 ? atoi(arguments[1]) : 1;
    for (int i = 0; i < NUMBERS; i++) shared_numbers[i] = i;
    for (long i = 0; i < THREADS; i++) {
        State *state = calloc(1, sizeof *state);
        state->random = (uint64_t)i + 1;
        pthread_create(&threads[i], NULL, work, state);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
