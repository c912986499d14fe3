// Threads count under a mutex of SQLite, which its holder may take again.
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

static sqlite3_mutex *mutex;
static int counted;

static void *work(void *unused) {
  sqlite3_mutex_enter(mutex);
  sqlite3_mutex_enter(mutex);
  counted++;
  sqlite3_mutex_leave(mutex);
  counted++;
  sqlite3_mutex_leave(mutex);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  sqlite3_initialize();
  mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_RECURSIVE);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  sqlite3_mutex_free(mutex);
  printf("%d\n", counted);
  return 0;
}
