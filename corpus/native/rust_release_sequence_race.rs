// A relaxed store ends a release sequence, even if the same thread makes it.
// race: 11 18
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static FLAG: AtomicU32 = AtomicU32::new(0);
static mut DATA: u32 = 0;

fn main() {
    let one = thread::spawn(|| {
        unsafe { DATA = 1 };
        FLAG.store(1, Ordering::Release);
        FLAG.store(2, Ordering::Relaxed);
    });
    let two = thread::spawn(|| {
        while FLAG.load(Ordering::Relaxed) != 2 {}
        FLAG.load(Ordering::Acquire);
        unsafe { DATA = 2 };
    });
    one.join().unwrap();
    two.join().unwrap();
}
