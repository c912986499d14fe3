/* One thread walks the list, tasks work on its nodes. */
#include <stdio.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
int main(void) {
  struct node *head = NULL;
  for (int i = 0; i < 6; i++) {
    struct node *node = malloc(sizeof *node);
    node->value = i;
    node->next = head;
    head = node;
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  for (struct node *at = head; at != NULL; at = at->next)
#pragma omp task firstprivate(at)
    at->value *= 2;
  int sum = 0;
  while (head != NULL) {
    struct node *next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  printf("%d\n", sum);
}
