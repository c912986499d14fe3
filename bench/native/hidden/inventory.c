// A shop: orders take goods from the shelves of a warehouse, deliveries fill them, and stocktaking goes through both books.
// hidden: 47 89
// hidden: 48 91
// hidden: 65 93
#include <pthread.h>

enum { GOODS = 5 };

static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t till_lock = PTHREAD_MUTEX_INITIALIZER;
static int shelf[GOODS], open_orders, till;
static int season;   // of the delivery
static int discount; // of the orders
static int stock;    // of the stocktaking, and of the delivery

static void fill(int good, int amount) {
    pthread_mutex_lock(&shelf_lock);
    shelf[good] += amount;
    pthread_mutex_unlock(&shelf_lock);
}

static int take(int good) {
    int taken = 0;
    pthread_mutex_lock(&shelf_lock);
    if (shelf[good] > 0) {
        shelf[good]--;
        taken = 1;
    }
    pthread_mutex_unlock(&shelf_lock);
    return taken;
}

static void open_order(int change) {
    pthread_mutex_lock(&order_lock);
    open_orders += change;
    pthread_mutex_unlock(&order_lock);
}

static void pay(int amount) {
    pthread_mutex_lock(&till_lock);
    till += amount;
    pthread_mutex_unlock(&till_lock);
}

static void *delivery(void *unused) {
    season = 4;
    stock = 1;
    for (int good = 0; good < GOODS; good++)
        fill(good, 3);
    return unused;
}

static int order(int good) {
    open_order(1);
    pay(0);
    int taken = take(good);
    open_order(-1);
    return taken;
}

static void *customer(void *unused) {
    for (int i = 0; i < 10; i++)
        pay(1);
    discount = 10;
    int sold = 0;
    for (int good = 0; good < GOODS; good++)
        sold += order(good);
    pay(sold);
    return unused;
}

static int count_shelf(void) {
    int sum = 0;
    pthread_mutex_lock(&shelf_lock);
    for (int good = 0; good < GOODS; good++)
        sum += shelf[good];
    pthread_mutex_unlock(&shelf_lock);
    return sum;
}

static void *stocktaking(void *unused) {
    static pthread_mutex_t paper_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int sheet = 0; sheet < 28; sheet++) {
        pthread_mutex_lock(&paper_lock);
        pthread_mutex_unlock(&paper_lock);
    }
    int sum = count_shelf();
    if (season == 4)
        sum++;
    stock = sum;
    open_order(0);
    if (discount > 0)
        pay(-1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, delivery, 0);
    pthread_create(&threads[1], 0, customer, 0);
    pthread_create(&threads[2], 0, stocktaking, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return till < 0;
}
