// Mutex, read-write lock and semaphore are made by one thread, and used by another one that only hopes it is late enough.
// race: 17 26
// race: 18 29
// race: 19 31
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t lock;
static sem_t semaphore;
static int shared;

static void *maker(void *unused) {
  // What these do to the object itself stays the library's.
  (void)unused;
  pthread_mutex_init(&mutex, NULL);
  pthread_rwlock_init(&lock, NULL);
  sem_init(&semaphore, 0, 1);
  return NULL;
}

static void *user(void *unused) {
  (void)unused;
  usleep(50000);
  pthread_mutex_lock(&mutex);
  shared++;
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  sem_post(&semaphore);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, maker, NULL);
  pthread_create(&threads[1], NULL, user, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
