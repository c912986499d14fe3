// Threads of libuv count under its mutex, its read-write lock and what is done once, and meet at a condition.
#include <stdio.h>
#include <uv.h>

static uv_mutex_t mutex;
static uv_rwlock_t lock;
static uv_cond_t changed;
static uv_once_t once = UV_ONCE_INIT;
static int counted, table, ready;

static void make(void) { table = 1; }

static void work(void *argument) {
  uv_once(&once, make);
  uv_rwlock_rdlock(&lock);
  int seen = table;
  uv_rwlock_rdunlock(&lock);
  uv_rwlock_wrlock(&lock);
  table = seen + 1;
  uv_rwlock_wrunlock(&lock);
  uv_mutex_lock(&mutex);
  counted += *(int *)argument;
  ready++;
  uv_cond_signal(&changed);
  uv_mutex_unlock(&mutex);
}

int main(void) {
  uv_thread_t threads[2];
  int by[2] = {1, 2};
  uv_mutex_init(&mutex);
  uv_rwlock_init(&lock);
  uv_cond_init(&changed);
  for (int i = 0; i < 2; i++)
    uv_thread_create(&threads[i], work, &by[i]);
  uv_mutex_lock(&mutex);
  while (ready < 2)
    uv_cond_wait(&changed, &mutex);
  int sum = counted;
  uv_mutex_unlock(&mutex);
  for (int i = 0; i < 2; i++)
    uv_thread_join(&threads[i]);
  printf("%d %d\n", sum, table);
  return 0;
}
