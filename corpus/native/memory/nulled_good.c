// Who frees the memory says so under the lock, and who uses it asks.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *account;

static void *use(void *unused) {
  pthread_mutex_lock(&lock);
  if (account)
    *account += 1;
  pthread_mutex_unlock(&lock);
  return unused;
}

static void *give_back(void *unused) {
  usleep(20000);
  pthread_mutex_lock(&lock);
  free(account);
  account = NULL;
  pthread_mutex_unlock(&lock);
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
