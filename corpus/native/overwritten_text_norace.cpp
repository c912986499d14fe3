// A text grows in the C++ library, unseen, and is emptied inline, all under one lock.
#include <pthread.h>
#include <string>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static std::string text;
static int flag, secret;
int sink;

static void *one(void *unused) {
    pthread_mutex_lock(&lock);
    text.clear();
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    text.append("some more");
    flag = 1;
    pthread_mutex_unlock(&lock);
    secret = 1;
    pthread_mutex_lock(&lock);
    text.clear();
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&lock);
    int flagged = flag;
    auto size = text.size();
    pthread_mutex_unlock(&lock);
    // With the flag the text is empty only after the secret was written, and the lock was taken once more.
    if (flagged && size == 0)
        sink = secret;
    return unused;
}

int main() {
    pthread_t threads[2];
    pthread_create(&threads[0], nullptr, one, nullptr);
    pthread_create(&threads[1], nullptr, two, nullptr);
    pthread_join(threads[0], nullptr);
    pthread_join(threads[1], nullptr);
    return 0;
}
