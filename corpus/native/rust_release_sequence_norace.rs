// An update continues a release sequence, and a release store begins one.
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static FLAG: AtomicU32 = AtomicU32::new(0);
static mut DATA: u32 = 0;

fn main() {
    let one = thread::spawn(|| {
        FLAG.store(1, Ordering::Relaxed);
        unsafe { DATA = 1 };
        FLAG.store(2, Ordering::Release);
        FLAG.fetch_add(1, Ordering::Relaxed);
    });
    let two = thread::spawn(|| {
        while FLAG.load(Ordering::Relaxed) != 3 {}
        FLAG.load(Ordering::Acquire);
        unsafe { DATA = 2 };
    });
    one.join().unwrap();
    two.join().unwrap();
}
