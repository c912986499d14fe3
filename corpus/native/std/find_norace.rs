//! A text is searched and parsed under a lock.
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new(String::from("12,34"));
    thread::scope(|scope| {
        scope.spawn(|| {
            let shared = shared.lock().expect("a lock");
            let sum: u64 = shared.split(',').map(|part| part.parse::<u64>().expect("a number")).sum();
            assert!(sum >= 46);
        });
        scope.spawn(|| {
            shared.lock().expect("a lock").push_str(",56");
        });
    });
}
