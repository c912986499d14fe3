// Two threads count under mutexes of SQLite, each under its own.
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

static sqlite3_mutex *mutexes[2];
static int counted;

static void *work(void *mutex) {
  sqlite3_mutex_enter(mutex);
  counted++; // races
  sqlite3_mutex_leave(mutex);
  if (sqlite3_mutex_try(mutex) == SQLITE_OK)
    sqlite3_mutex_leave(mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  sqlite3_initialize();
  for (int i = 0; i < 2; i++)
    mutexes[i] = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, mutexes[i]);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++)
    sqlite3_mutex_free(mutexes[i]);
  printf("%d\n", counted);
  return 0;
}
