// What becomes of what a thread reads. Lines are known by their last words.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int shared, copy, other, table[8], deep, kept, sum, chosen;
struct pair { int one, two; } pair, target;
int *where = &other;

static int twice(int value) { return 2 * value; }
static int larger(int one, int two) { return one > two ? one : two; }

static int recursive(int x, int y, int depth) {
  table[7] = depth;
  if (depth == 0) return 0;
  return x * 2 + recursive(y, x, depth - 1);
}

static void *work(void *nothing) {
  int never_used = shared;                         // unused
  copy = shared;                                   // stored
  if (shared > 100) other = 1;                     // decides
  kept = 1;                                        // decided
  table[shared & 3] = 1;                           // index
  *where = 2;                                      // pointer
  int local = shared;                              // local
  kept = 2;                                        // between
  copy = local + 1;                                // from local
  struct pair mine;
  memcpy(&mine, &pair, sizeof mine);               // copied
  target = mine;                                   // from copy
  copy = twice(shared);                            // passed
  deep = recursive(shared, 5, 2);                  // recursive
  int total = 0;
  for (int i = 0; i < 3; i++) total += shared;     // loop
  sum = total;                                     // from loop
  int *own = malloc(sizeof *own);
  *own = shared;                                   // heap
  kept = 3;
  copy = *own;                                     // from heap
  chosen = larger(shared, 3);                      // chosen
  free(own);
  return nothing;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  shared = 0, pair.one = 1, pair.two = 2;
  where = &other;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
