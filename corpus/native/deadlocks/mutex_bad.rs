// Two threads take two mutexes in opposite order.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let (left, right) = (Arc::new(Mutex::new(100)), Arc::new(Mutex::new(50)));
    let (l, r) = (Arc::clone(&left), Arc::clone(&right));
    let forth = thread::spawn(move || {
        let mut from = l.lock().unwrap();
        let mut to = r.lock().unwrap();
        *from -= 10;
        *to += 10;
    });
    let back = thread::spawn(move || {
        let mut from = right.lock().unwrap();
        let mut to = left.lock().unwrap();
        *from -= 10;
        *to += 10;
    });
    forth.join().unwrap();
    back.join().unwrap();
}
