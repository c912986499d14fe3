// A thread writes under a lock of OpenSSL that it has for reading only.
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>

static CRYPTO_RWLOCK *lock;
static int counted;

static void *work(void *unused) {
  if (CRYPTO_THREAD_read_lock(lock)) {
    counted++; // races
    CRYPTO_THREAD_unlock(lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  lock = CRYPTO_THREAD_lock_new();
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  CRYPTO_THREAD_lock_free(lock);
  printf("%d\n", counted);
  return 0;
}
