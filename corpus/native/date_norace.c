// To print a date takes seven of its numbers, while another thread sets the others.
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static struct tm date;
static void *print(void *unused) {
    (void)unused;
    fputs(asctime(&date), stdout);
    return NULL;
}
static void *set_others(void *unused) {
    (void)unused;
    date.tm_yday = 3;
    date.tm_isdst = 1;
    date.tm_gmtoff = 3600;
    date.tm_zone = "CET";
    return NULL;
}
int main(void) {
    pthread_t printing, setting;
    pthread_create(&printing, NULL, print, NULL);
    pthread_create(&setting, NULL, set_others, NULL);
    pthread_join(printing, NULL);
    pthread_join(setting, NULL);
}
