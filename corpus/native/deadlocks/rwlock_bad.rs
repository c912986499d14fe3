// Two threads read under one lock each, and then each wants to write under the lock of the other.
use std::sync::{Arc, RwLock};
use std::thread;

fn main() {
    let (left, right) = (Arc::new(RwLock::new(1)), Arc::new(RwLock::new(2)));
    let (l, r) = (Arc::clone(&left), Arc::clone(&right));
    let forth = thread::spawn(move || {
        let seen = l.read().unwrap();
        *r.write().unwrap() += *seen;
    });
    let back = thread::spawn(move || {
        let seen = right.read().unwrap();
        *left.write().unwrap() += *seen;
    });
    forth.join().unwrap();
    back.join().unwrap();
}
