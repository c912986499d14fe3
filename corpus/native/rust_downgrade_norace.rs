// A writer becomes a reader, and nobody can write between.
use std::sync::{Arc, RwLock, RwLockWriteGuard};
use std::thread;

fn main() {
    let value = Arc::new(RwLock::new(0));
    let work = |value: Arc<RwLock<u32>>| {
        move || {
            for _ in 0..3 {
                let mut writing = value.write().unwrap();
                *writing += 1;
                let written = *writing;
                let reading = RwLockWriteGuard::downgrade(writing);
                assert_eq!(*reading, written);
            }
        }
    };
    let one = thread::spawn(work(Arc::clone(&value)));
    let two = thread::spawn(work(value));
    one.join().unwrap();
    two.join().unwrap();
}
