// Atomic accesses of different sizes that are ordered, that do not overlap, or that all read.
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};
use std::thread;

static WORD: AtomicU32 = AtomicU32::new(0);
static TURN: Mutex<u32> = Mutex::new(0);

fn halves() -> &'static [AtomicU16; 2] {
    unsafe { &*(&raw const WORD).cast() }
}

fn bytes() -> &'static [AtomicU8; 4] {
    unsafe { &*(&raw const WORD).cast() }
}

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| halves()[0].store(1, Ordering::Relaxed));
        scope.spawn(|| bytes()[2].store(1, Ordering::Relaxed));
    });
    thread::scope(|scope| {
        scope.spawn(|| WORD.load(Ordering::Relaxed));
        scope.spawn(|| halves()[1].load(Ordering::Relaxed));
        scope.spawn(|| bytes()[3].load(Ordering::SeqCst));
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = TURN.lock().unwrap();
            WORD.fetch_add(1, Ordering::Relaxed);
            *turn += 1;
        });
        scope.spawn(|| {
            let mut turn = TURN.lock().unwrap();
            bytes()[0].fetch_add(1, Ordering::Relaxed);
            *turn += 1;
        });
    });
    assert_eq!(*TURN.lock().unwrap(), 2);
}
