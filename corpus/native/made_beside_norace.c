// Locks are made and destroyed beside other threads, but each is handed over first, or kept by a count.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct box {
  pthread_mutex_t mutex;
  pthread_rwlock_t lock;
  sem_t done;
  int users;
};

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static struct box *there;

static void leave(struct box *box) {
  pthread_mutex_lock(&box->mutex);
  int left = --box->users;
  pthread_mutex_unlock(&box->mutex);
  if (left == 0) {
    pthread_mutex_destroy(&box->mutex);
    pthread_rwlock_destroy(&box->lock);
    sem_destroy(&box->done);
    free(box);
  }
}

static void *maker(void *unused) {
  struct box *box = malloc(sizeof *box);
  pthread_mutex_init(&box->mutex, NULL);
  pthread_rwlock_init(&box->lock, NULL);
  sem_init(&box->done, 0, 0);
  box->users = 2;
  pthread_mutex_lock(&door);
  there = box;
  pthread_cond_signal(&opened);
  pthread_mutex_unlock(&door);
  pthread_rwlock_wrlock(&box->lock);
  pthread_rwlock_unlock(&box->lock);
  sem_post(&box->done);
  leave(box);
  return unused;
}

static void *user(void *unused) {
  pthread_mutex_lock(&door);
  while (there == NULL)
    pthread_cond_wait(&opened, &door);
  struct box *box = there;
  pthread_mutex_unlock(&door);
  pthread_rwlock_rdlock(&box->lock);
  pthread_rwlock_unlock(&box->lock);
  sem_wait(&box->done);
  leave(box);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int round = 0; round < 2; round++) {
    there = NULL;
    pthread_create(&threads[0], NULL, maker, NULL);
    pthread_create(&threads[1], NULL, user, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
  }
  return 0;
}
