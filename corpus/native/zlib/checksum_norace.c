// A checksum is taken of a buffer after its writer has ended.
#include <pthread.h>
#include <stdio.h>
#include <zlib.h>

static unsigned char buffer[64];
static unsigned long other;

static void *write_it(void *unused) {
  for (int i = 0; i < 64; i++)
    buffer[i] = (unsigned char)i;
  return unused;
}

static void *check_other(void *unused) {
  other = adler32(1, (const unsigned char *)"text", 4);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, write_it, NULL);
  pthread_create(&threads[1], NULL, check_other, NULL);
  pthread_join(threads[0], NULL);
  unsigned long sum = crc32(0, buffer, 64);
  pthread_join(threads[1], NULL);
  printf("%lu\n", sum + other);
  return 0;
}
