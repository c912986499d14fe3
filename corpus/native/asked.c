// Loaded before a program: tells at the end how often code with hooks has asked who its thread is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int asked;

void *__foretell_thread(void) {
    void *(*next)(void) = (void *(*)(void))dlsym(RTLD_NEXT, "__foretell_thread");
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    return next();
}

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "asked %d times\n", asked); }
