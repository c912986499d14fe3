// options: -mavx2
// Publication through vector instructions that touch only some of their elements, which no hook knows.
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

static int words[8];
static int data;

static void *sender(void *unused) {
    data = 42;
    _mm256_maskstore_epi32(words, _mm256_set1_epi32(-1), _mm256_set1_epi32(1));
    return unused;
}

static int found(void) {
    __m256i loaded = _mm256_maskload_epi32(words, _mm256_set1_epi32(-1));
    return _mm256_extract_epi32(loaded, 3);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    while (!found()) sched_yield();
    data++;
    pthread_join(thread, 0);
}
