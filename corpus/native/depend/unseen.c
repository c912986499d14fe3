// What goes to code that is not instrumented, or may have, decides what comes after it. Lines are known by their last words.
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int shared, kept, length;
struct large { int numbers[16]; } large;

static int first(struct large by_value) { return by_value.numbers[0]; }

static int compare(const void *one, const void *other) {
  kept = 1;                                        // called back
  return *(const int *)one - *(const int *)other;
}

static void *work(void *nothing) {
  int before = shared;                             // before
  kept = 2;                                        // between
  setlocale(LC_ALL, NULL);                         // unseen
  kept = before;                                   // after unseen
  struct large mine = {{0}};
  mine.numbers[0] = shared;                        // by value
  kept = first(mine);                              // from value
  int numbers[2] = {shared, 3};                    // sorted
  qsort(numbers, 2, sizeof *numbers, compare);     // sort
  char *text = malloc(shared + 8);                 // size
  kept = 3;                                        // after size
  length = snprintf(text, 8, "%d", shared);        // printed
  free(text);
  return (void *)(long)shared;                     // returned
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  shared = 0;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
