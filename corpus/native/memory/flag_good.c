// A flag under the lock says whether the memory is still there; the pointer itself stays as it is.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *account;
static int is_closed;

static void *use(void *unused) {
  pthread_mutex_lock(&lock);
  if (!is_closed)
    *account += 1;
  pthread_mutex_unlock(&lock);
  return unused;
}

static void *give_back(void *unused) {
  usleep(20000);
  pthread_mutex_lock(&lock);
  is_closed = 1;
  free(account);
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
