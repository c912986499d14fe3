// Atomic accesses of different sizes race, whatever their order, unless both read.
// race: 20 24
// race: 20 25
// race: 21 24
// options: -O
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::thread;

static WORD: AtomicU16 = AtomicU16::new(0);

fn bytes() -> &'static [AtomicU8; 2] {
    unsafe { &*(&raw const WORD).cast() }
}

fn main() {
    bytes()[1].store(2, Ordering::Relaxed);
    WORD.fetch_add(1, Ordering::Relaxed);
    let one = thread::spawn(|| {
        // Nobody else stores to the second byte, but this does.
        WORD.store(1, Ordering::SeqCst);
        WORD.load(Ordering::SeqCst);
    });
    let two = thread::spawn(|| {
        bytes()[0].fetch_add(1, Ordering::SeqCst);
        bytes()[1].load(Ordering::SeqCst);
    });
    one.join().unwrap();
    two.join().unwrap();
    bytes()[1].store(2, Ordering::Relaxed);
}
