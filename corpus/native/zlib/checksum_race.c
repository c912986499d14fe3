// A checksum is taken of a buffer that is being written.
#include <pthread.h>
#include <stdio.h>
#include <zlib.h>

static unsigned char buffer[64];

static void *write_it(void *unused) {
  buffer[40] = 1; // races
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, write_it, NULL);
  unsigned long sum = crc32(0, buffer, 64); // races
  pthread_join(thread, NULL);
  printf("%lu\n", sum);
  return 0;
}
