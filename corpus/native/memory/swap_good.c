// Who has taken the memory out of its place owns it: the one that frees it frees nothing if the other one has it.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *place;

static int *swap(int *other) {
  pthread_mutex_lock(&lock);
  int *taken = place;
  place = other;
  pthread_mutex_unlock(&lock);
  return taken;
}

static void *use(void *unused) {
  int *mine = swap(NULL);
  if (mine) {
    *mine += 1;
    free(swap(mine));
  }
  return unused;
}

static void *give_back(void *unused) {
  usleep(20000);
  free(swap(NULL));
  return unused;
}

int main(void) {
  pthread_t threads[2];
  place = calloc(1, sizeof *place);
  pthread_create(&threads[0], NULL, use, NULL);
  pthread_create(&threads[1], NULL, give_back, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  free(place);
  return 0;
}
