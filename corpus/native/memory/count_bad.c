// The reference is given up before the last use.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users = 2;
static int *account;

static void leave(int uses_later) {
  pthread_mutex_lock(&lock);
  users -= 1;
  int is_last = users == 0;
  pthread_mutex_unlock(&lock);
  if (is_last)
    free(account);
  if (uses_later) {
    pthread_mutex_lock(&lock);
    *account += 1;
    pthread_mutex_unlock(&lock);
  }
}

static void *use(void *unused) {
  leave(1);
  return unused;
}

static void *give_back(void *unused) {
  usleep(20000);
  leave(0);
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
