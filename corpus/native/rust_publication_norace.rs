// Data that is published by a flag, with release and acquire.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static mut DATA: u32 = 0;

fn main() {
    let reader = thread::spawn(|| {
        while !READY.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert_eq!(unsafe { DATA }, 7);
    });
    unsafe { DATA = 7 };
    READY.store(true, Ordering::Release);
    reader.join().unwrap();
}
