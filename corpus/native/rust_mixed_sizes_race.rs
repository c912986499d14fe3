// Atomic accesses of different sizes to the same memory race in Rust, whatever they do unless both read.
// race: 22 25
// race: 29 32
// race: 36 39
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};
use std::thread;

static STORED: AtomicU32 = AtomicU32::new(0);
static COUNTED: AtomicU32 = AtomicU32::new(0);
static LOADED: AtomicU32 = AtomicU32::new(0);

fn low_half(word: &'static AtomicU32) -> &'static AtomicU16 {
    unsafe { &*(&raw const *word).cast() }
}

fn low_byte(word: &'static AtomicU32) -> &'static AtomicU8 {
    unsafe { &*(&raw const *word).cast() }
}

fn main() {
    let first = thread::spawn(|| {
        STORED.store(7, Ordering::SeqCst);
    });
    let second = thread::spawn(|| {
        low_half(&STORED).store(9, Ordering::SeqCst);
    });
    [first, second].map(|thread| thread.join().unwrap());
    let first = thread::spawn(|| {
        low_half(&COUNTED).fetch_add(1, Ordering::SeqCst);
    });
    let second = thread::spawn(|| {
        low_byte(&COUNTED).fetch_add(1, Ordering::SeqCst);
    });
    [first, second].map(|thread| thread.join().unwrap());
    let first = thread::spawn(|| {
        let _ = LOADED.load(Ordering::SeqCst);
    });
    let second = thread::spawn(|| {
        low_byte(&LOADED).store(3, Ordering::SeqCst);
    });
    [first, second].map(|thread| thread.join().unwrap());
}
