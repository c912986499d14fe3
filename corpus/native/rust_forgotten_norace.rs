// A guard is forgotten: nobody gets the lock any more.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let value = Arc::new(Mutex::new(0));
    let one = {
        let value = Arc::clone(&value);
        thread::spawn(move || {
            let mut value = value.lock().unwrap();
            *value += 1;
            std::mem::forget(value);
        })
    };
    let two = {
        let value = Arc::clone(&value);
        thread::spawn(move || {
            if let Ok(mut value) = value.try_lock() {
                *value += 1;
            }
        })
    };
    one.join().unwrap();
    two.join().unwrap();
}
