//! A raw pointer outlives its box, though both threads hold the lock.
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static ACCOUNT: Mutex<usize> = Mutex::new(0);

fn main() {
    *ACCOUNT.lock().unwrap() = Box::into_raw(Box::new(1_u64)) as usize;
    let user = thread::spawn(|| {
        let account = ACCOUNT.lock().unwrap();
        // SAFETY: none; the other thread may have dropped the box.
        unsafe { *(*account as *mut u64) += 1 };
    });
    let closer = thread::spawn(|| {
        thread::sleep(Duration::from_millis(20));
        let account = ACCOUNT.lock().unwrap();
        // SAFETY: the pointer comes from a box.
        drop(unsafe { Box::from_raw(*account as *mut u64) });
    });
    user.join().unwrap();
    closer.join().unwrap();
}
