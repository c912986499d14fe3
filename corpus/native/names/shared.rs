// Objects behind `Arc`, `Box` and raw pointers are called by their types and fields.
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};

struct Stats {
    hits: u64,
    misses: u64,
}

struct Cache {
    limit: u32,
    stats: UnsafeCell<Stats>,
}
// SAFETY: it is not; that is the bug.
unsafe impl Sync for Cache {}

struct Queue {
    length: u64,
    next: u64,
}
struct Sent(*mut Queue);
// SAFETY: as above.
unsafe impl Send for Sent {}

struct Number(UnsafeCell<i32>);
// SAFETY: as above.
unsafe impl Sync for Number {}

fn main() {
    let cache = Arc::new(Cache { limit: 7, stats: UnsafeCell::new(Stats { hits: 0, misses: 0 }) });
    let number = Arc::new(Number(UnsafeCell::new(5)));
    let queue = Box::into_raw(Box::new(Queue { length: 1, next: 2 }));
    let total = Arc::new(Mutex::new(0));
    let theirs = (Arc::clone(&cache), Arc::clone(&number), Arc::clone(&total), Sent(queue));
    let thread = std::thread::spawn(move || {
        let (cache, number, total, sent) = theirs;
        let queue = sent.0;
        // SAFETY: these race.
        unsafe {
            (*cache.stats.get()).misses += 1;
            *number.0.get() += 1;
            (*queue).next += 1;
        }
        *total.lock().unwrap() += 1;
    });
    // SAFETY: these race.
    unsafe {
        (*cache.stats.get()).misses += u64::from(cache.limit);
        *number.0.get() += 1;
        (*queue).next += 1;
    }
    *total.lock().unwrap() += 1;
    thread.join().unwrap();
    // SAFETY: the thread has ended.
    let queue = unsafe { Box::from_raw(queue) };
    let stats = unsafe { &*cache.stats.get() };
    println!("{} {}", queue.length + queue.next, stats.hits + stats.misses);
}
