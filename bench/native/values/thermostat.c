// A heater is switched by two bounds; alarms only beyond them.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t sensor = PTHREAD_MUTEX_INITIALIZER;
static int temperature = 20, heating, alarms, switched;
static volatile int shown;

static void measure(int change) {
    pthread_mutex_lock(&sensor);
    temperature += change;
    pthread_mutex_unlock(&sensor);
}

static void *window(void *unused) {
    measure(-4);
    measure(5);
    return 0;
}

static void *oven(void *unused) {
    measure(3);
    measure(1);
    return 0;
}

static void *control(void *unused) {
    usleep(1000);
    if (temperature < 18) {
        if (temperature < 10)
            alarms++;
        heating = 1;
        switched++;
    } else if (temperature > 23) {
        heating = 0;
        switched++;
    }
    return 0;
}

static void *display(void *unused) {
    if (switched < 4) {
        shown = heating;
        alarms = 0;
    }
    return 0;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], 0, window, 0);
    pthread_create(&threads[1], 0, oven, 0);
    pthread_create(&threads[2], 0, control, 0);
    pthread_create(&threads[3], 0, display, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
