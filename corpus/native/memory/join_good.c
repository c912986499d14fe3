// The memory is freed once its user has ended.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *account;

static void *use(void *unused) {
  pthread_mutex_lock(&lock);
  *account += 1;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  account = calloc(1, sizeof *account);
  pthread_create(&thread, NULL, use, NULL);
  pthread_join(thread, NULL);
  pthread_mutex_lock(&lock);
  free(account);
  pthread_mutex_unlock(&lock);
  return 0;
}
