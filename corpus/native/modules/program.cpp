// The data is published by inline functions that turn out not to be instrumented.
#include <sched.h>

#include <thread>

#include "mailbox.h"

void use_library();
static int data;

int main() {
    use_library();
    std::thread thread([] {
        data = 42;
        put();
    });
    while (!is_there()) sched_yield();
    data++;
    thread.join();
}
