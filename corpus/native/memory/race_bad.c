// Nothing keeps the use and the free apart: the race of the two is a use after free as well.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int *account;

static void *use(void *unused) {
  *account += 1;
  return unused;
}

static void *give_back(void *unused) {
  usleep(20000);
  free(account);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  account = calloc(1, sizeof *account);
  pthread_create(&threads[0], NULL, use, NULL);
  pthread_create(&threads[1], NULL, give_back, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
