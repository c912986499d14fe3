// The write comes before one critical section and the read after another: what order they have is an accident.
// race: 21 26
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};
use std::thread;

struct Shared {
    value: UnsafeCell<u32>,
    lock: Mutex<u32>,
}

unsafe impl Sync for Shared {}

fn main() {
    let shared = Arc::new(Shared { value: UnsafeCell::new(0), lock: Mutex::new(0) });
    let (one, two) = (Arc::clone(&shared), shared);
    let writer = thread::spawn(move || {
        // Long enough for the other to begin, in some runs.
        *one.lock.lock().unwrap() += 1;
        *one.lock.lock().unwrap() += 1;
        unsafe { one.value.get().write(1) };
        *one.lock.lock().unwrap() += 1;
    });
    let reader = thread::spawn(move || {
        *two.lock.lock().unwrap() += 1;
        unsafe { two.value.get().read() }
    });
    writer.join().unwrap();
    reader.join().unwrap();
}
