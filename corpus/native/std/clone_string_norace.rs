//! A string is copied under a lock.
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new(String::from("abc"));
    thread::scope(|scope| {
        scope.spawn(|| {
            let copy = shared.lock().expect("a lock").clone();
            assert!(copy.len() >= 3);
        });
        scope.spawn(|| {
            shared.lock().expect("a lock").push_str("def");
        });
    });
}
