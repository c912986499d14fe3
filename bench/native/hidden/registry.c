// A registry of services: each plugin announces itself, a monitor looks at all of them, and a shutdown hook waits for the monitor's turn.
// hidden: 60 72
// race: 62 74
#include <pthread.h>
#include <string.h>

enum { SERVICES = 5 };

struct service {
    const char *name;
    int is_up;
};

static struct service services[SERVICES];
static pthread_mutex_t registry_lock, audit_lock, config_lock;
static int used, audits, configured;
static int api_version;      // of the last plugin
static const char *last_log; // of the monitor
static int wanted_level;     // of the configuration

static void announce(const char *name) {
    pthread_mutex_lock(&registry_lock);
    if (used < SERVICES)
        services[used++] = (struct service){name, 1};
    pthread_mutex_unlock(&registry_lock);
}

static void *plugin(void *name) {
    api_version = (int)strlen(name);
    announce(name);
    return 0;
}

static void read_settings(int settings) {
    for (int i = 0; i < settings; i++) {
        pthread_mutex_lock(&config_lock);
        configured++;
        pthread_mutex_unlock(&config_lock);
    }
}

static int count_up(void) {
    int up = 0;
    pthread_mutex_lock(&registry_lock);
    for (int i = 0; i < used; i++)
        up += services[i].is_up;
    pthread_mutex_unlock(&registry_lock);
    return up;
}

static void audit(int up) {
    pthread_mutex_lock(&audit_lock);
    audits += up;
    pthread_mutex_unlock(&audit_lock);
}

static void *monitor(void *unused) {
    read_settings(14);
    int up = count_up();
    last_log = up > 0 && api_version > 0 ? "up" : "down";
    audit(up);
    wanted_level = up;
    read_settings(1);
    return unused;
}

static void *shutdown_hook(void *unused) {
    for (int i = 0; i < 12; i++)
        count_up();
    read_settings(16);
    audit(0);
    if (last_log)
        read_settings(1);
    if (wanted_level > 2)
        audit(1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_mutex_init(&registry_lock, 0);
    pthread_mutex_init(&audit_lock, 0);
    pthread_mutex_init(&config_lock, 0);
    pthread_create(&threads[0], 0, plugin, "database");
    pthread_create(&threads[1], 0, monitor, 0);
    pthread_create(&threads[2], 0, shutdown_hook, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return audits < 0;
}
