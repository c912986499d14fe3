// A thread goes on although it could not take a mutex of SQLite.
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

static sqlite3_mutex *mutex;
static int counted;

static void *patient(void *unused) {
  sqlite3_mutex_enter(mutex);
  counted++; // races
  sqlite3_mutex_leave(mutex);
  return unused;
}

static void *hasty(void *unused) {
  int result = sqlite3_mutex_try(mutex);
  counted++; // races
  if (result == SQLITE_OK)
    sqlite3_mutex_leave(mutex);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  sqlite3_initialize();
  mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  pthread_create(&threads[0], NULL, patient, NULL);
  pthread_create(&threads[1], NULL, hasty, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  sqlite3_mutex_free(mutex);
  printf("%d\n", counted);
  return 0;
}
