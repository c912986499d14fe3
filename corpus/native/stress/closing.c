// Closes descriptors that it does not know, in the way that is asked for, and goes on.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter, filler[2][1024];

static void *work(void *own) {
    // More than what fits into what is mapped of the log at first.
    for (int i = 0; i < 30000; i++)
        ((int *)own)[i % 1024] += i;
    counter++;
    return own;
}

static void close_past_the_library(int file) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_close), "D"((long)file) : "rcx", "r11", "memory");
#else
    close(file);
#endif
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "close";
    const char *scratch = count > 2 ? arguments[2] : "/dev/null";
    if (strcmp(how, "closefrom") == 0)
        closefrom(3);
    else if (strcmp(how, "close_range") == 0)
        close_range(3, ~0U, 0);
    else if (strcmp(how, "syscall") == 0)
        syscall(SYS_close_range, 3, ~0U, 0);
    for (int file = 3; file < 2000; file++) {
        if (strcmp(how, "close") == 0)
            close(file);
        else if (strcmp(how, "dup2") == 0 && file < 1010)
            dup2(1, file);
        else if (strcmp(how, "assembly") == 0) {
            close_past_the_library(file);
            // The number is this file's from now on.
            if (open(scratch, O_RDWR | O_CREAT, 0600) < 0)
                break;
        }
    }
    pthread_t one, two;
    pthread_create(&one, NULL, work, filler[0]);
    pthread_create(&two, NULL, work, filler[1]);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter == 0;
}
