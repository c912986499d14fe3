// What a thread returns decides what who waits for it does.
#include <pthread.h>
#include <stdatomic.h>

int data;
atomic_int flag;

static void *set(void *nothing) {
  data = 1;
  atomic_store(&flag, 1);
  return nothing;
}

static void *get(void *nothing) { return (void *)(long)atomic_load(&flag); }

int main(void) {
  pthread_t setter, getter;
  void *found = 0;
  pthread_create(&setter, 0, set, 0);
  for (int i = 0; i < 3 && !found; i++) {
    pthread_create(&getter, 0, get, 0);
    pthread_join(getter, &found);
  }
  if (found) data = 2;
  pthread_join(setter, 0);
  return 0;
}
