// Both hold the lock as readers, and one of them writes.
// race: 20 20
use std::cell::UnsafeCell;
use std::sync::{Arc, RwLock};
use std::thread;

struct Shared {
    value: UnsafeCell<u32>,
    lock: RwLock<()>,
}

unsafe impl Sync for Shared {}

fn main() {
    let shared = Arc::new(Shared { value: UnsafeCell::new(0), lock: RwLock::new(()) });
    let work = |shared: Arc<Shared>| {
        move || {
            let _reading = shared.lock.read().unwrap();
            let value = shared.value.get();
            unsafe { *value += 1 };
        }
    };
    let one = thread::spawn(work(Arc::clone(&shared)));
    let two = thread::spawn(work(shared));
    one.join().unwrap();
    two.join().unwrap();
}
