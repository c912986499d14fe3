// Who does not get the lock goes away.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let value = Arc::new(Mutex::new(0));
    let work = |value: Arc<Mutex<u32>>| {
        move || {
            for _ in 0..5 {
                if let Ok(mut value) = value.try_lock() {
                    *value += 1;
                }
            }
        }
    };
    let one = thread::spawn(work(Arc::clone(&value)));
    let two = thread::spawn(work(Arc::clone(&value)));
    one.join().unwrap();
    two.join().unwrap();
}
