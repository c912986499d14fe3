// References are counted: the last one to leave frees the memory.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct account {
  atomic_int users;
  pthread_mutex_t lock;
  int balance;
};

static struct account *account;

static void *use(void *unused) {
  struct account *mine = account;
  pthread_mutex_lock(&mine->lock);
  mine->balance += 1;
  pthread_mutex_unlock(&mine->lock);
  if (atomic_fetch_sub(&mine->users, 1) == 1)
    free(mine);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  account = calloc(1, sizeof *account);
  atomic_store(&account->users, 2);
  pthread_mutex_init(&account->lock, NULL);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, use, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
