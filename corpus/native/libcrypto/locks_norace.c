// A lock of OpenSSL protects a counter, which is looked at by readers, too.
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>

static CRYPTO_RWLOCK *lock;
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static int counted, base;

static void make(void) { base = 3; }

static void *work(void *unused) {
  CRYPTO_THREAD_run_once(&once, make);
  if (CRYPTO_THREAD_write_lock(lock)) {
    counted += base;
    CRYPTO_THREAD_unlock(lock);
  }
  if (CRYPTO_THREAD_read_lock(lock)) {
    int seen = counted;
    CRYPTO_THREAD_unlock(lock);
    return seen > 99 ? NULL : unused;
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
