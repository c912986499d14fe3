// A value is handed over by a condition variable, there and back.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    let mut data = Box::new(1);
    let address = &raw mut *data as usize;
    let other = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let (step, changed) = &*shared;
            let mut now = changed.wait_while(step.lock().unwrap(), |now| *now != 1).unwrap();
            unsafe { *(address as *mut i32) += 1 };
            *now = 2;
            changed.notify_all();
        })
    };
    *data += 1;
    let (step, changed) = &*shared;
    let mut now = step.lock().unwrap();
    *now = 1;
    changed.notify_one();
    while *now != 2 {
        now = changed.wait_timeout(now, Duration::from_millis(50)).unwrap().0;
    }
    drop(now);
    *data += 1;
    assert_eq!(*data, 4);
    other.join().unwrap();
}
