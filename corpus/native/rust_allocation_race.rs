// Memory is handed on by a relaxed store: nothing orders its allocation before the first access to it.
// race: 16 24
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut u64;
    fn free(block: *mut u64);
}

static BLOCK: AtomicPtr<u64> = AtomicPtr::new(ptr::null_mut());

fn main() {
    let one = thread::spawn(|| {
        let block = unsafe { malloc(8) };
        BLOCK.store(block, Ordering::Relaxed);
    });
    let two = thread::spawn(|| {
        let mut block = BLOCK.load(Ordering::Relaxed);
        while block.is_null() {
            block = BLOCK.load(Ordering::Relaxed);
        }
        unsafe { *block = 1 };
    });
    one.join().unwrap();
    two.join().unwrap();
    unsafe { free(BLOCK.load(Ordering::Relaxed)) };
}
