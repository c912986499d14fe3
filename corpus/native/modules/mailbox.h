// Inline functions, which every module has that uses them.
#include <atomic>

extern std::atomic<int> mail;

__attribute__((noinline)) inline void put() { mail.store(1, std::memory_order_release); }
__attribute__((noinline)) inline bool is_there() { return mail.load(std::memory_order_acquire) == 1; }
