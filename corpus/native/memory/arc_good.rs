//! The last reference drops the value.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let account = Arc::new(Mutex::new(1_u64));
    let use_it = |account: Arc<Mutex<u64>>| move || *account.lock().unwrap() += 1;
    let one = thread::spawn(use_it(Arc::clone(&account)));
    let other = thread::spawn(use_it(account));
    one.join().unwrap();
    other.join().unwrap();
}
