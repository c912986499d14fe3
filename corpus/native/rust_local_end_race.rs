// A function returns although another thread may still use its variable.
// race: 16 22
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread;

static KNOWN: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
static DONE: AtomicBool = AtomicBool::new(false);

fn lend() {
    let mut variable = 1;
    KNOWN.store(&raw mut variable, Ordering::Release);
    while !DONE.load(Ordering::Relaxed) {
        thread::yield_now();
    }
}

fn borrow() {
    while KNOWN.load(Ordering::Acquire).is_null() {
        thread::yield_now();
    }
    unsafe { *KNOWN.load(Ordering::Acquire) = 2 };
    DONE.store(true, Ordering::Relaxed);
}

fn main() {
    let borrower = thread::spawn(borrow);
    lend();
    borrower.join().unwrap();
}
