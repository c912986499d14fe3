// Data that is published by a flag which orders nothing.
// race: 14 16
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static mut DATA: u32 = 0;

fn main() {
    let reader = thread::spawn(|| {
        while !READY.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        unsafe { DATA }
    });
    unsafe { DATA = 7 };
    READY.store(true, Ordering::Relaxed);
    reader.join().unwrap();
}
