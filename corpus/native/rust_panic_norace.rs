// A thread panics while it holds the lock; the next one finds it poisoned.
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

fn main() {
    let value = Arc::new(Mutex::new(0));
    let work = |value: Arc<Mutex<u32>>, fails: bool| {
        move || {
            let mut value = value.lock().unwrap_or_else(PoisonError::into_inner);
            *value += 1;
            if fails {
                panic::resume_unwind(Box::new("as planned"));
            }
        }
    };
    let one = thread::spawn(work(Arc::clone(&value), true));
    let two = thread::spawn(work(Arc::clone(&value), false));
    let _ = (one.join(), two.join());
    *value.lock().unwrap_or_else(PoisonError::into_inner) += 1;
}
