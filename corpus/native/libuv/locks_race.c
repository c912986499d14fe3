// One thread of libuv counts under its mutex, and one beside it.
#include <stdio.h>
#include <uv.h>

static uv_mutex_t mutex;
static int counted, other;

static void careful(void *unused) {
  (void)unused;
  uv_mutex_lock(&mutex);
  counted++; // races
  uv_mutex_unlock(&mutex);
}

static void careless(void *unused) {
  (void)unused;
  uv_mutex_lock(&mutex);
  other++;
  uv_mutex_unlock(&mutex);
  counted++; // races
}

int main(void) {
  uv_thread_t threads[2];
  uv_mutex_init(&mutex);
  uv_thread_create(&threads[0], careful, NULL);
  uv_thread_create(&threads[1], careless, NULL);
  uv_thread_join(&threads[0]);
  uv_thread_join(&threads[1]);
  printf("%d\n", counted + other);
  return 0;
}
