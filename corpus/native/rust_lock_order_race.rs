// The write comes before one critical section and the read after another: what order they have is an accident.
// race: 18 23
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};
use std::thread;

struct Shared {
    value: UnsafeCell<u32>,
    lock: Mutex<()>,
}

unsafe impl Sync for Shared {}

fn main() {
    let shared = Arc::new(Shared { value: UnsafeCell::new(0), lock: Mutex::new(()) });
    let (one, two) = (Arc::clone(&shared), shared);
    let writer = thread::spawn(move || {
        unsafe { one.value.get().write(1) };
        drop(one.lock.lock());
    });
    let reader = thread::spawn(move || {
        drop(two.lock.lock());
        unsafe { two.value.get().read() }
    });
    writer.join().unwrap();
    reader.join().unwrap();
}
