// Not instrumented, and linked first: these are the inline functions that the program gets.
#include "mailbox.h"

std::atomic<int> mail;

void use_library() {
    put();
    if (is_there()) mail.store(0);
}
