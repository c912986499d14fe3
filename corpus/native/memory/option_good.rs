//! The value is taken out under the lock, and its user looks whether it is there.
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static ACCOUNT: Mutex<Option<Box<u64>>> = Mutex::new(None);

fn main() {
    *ACCOUNT.lock().unwrap() = Some(Box::new(1));
    let user = thread::spawn(|| {
        if let Some(account) = ACCOUNT.lock().unwrap().as_mut() {
            **account += 1;
        }
    });
    let closer = thread::spawn(|| {
        thread::sleep(Duration::from_millis(20));
        drop(ACCOUNT.lock().unwrap().take());
    });
    user.join().unwrap();
    closer.join().unwrap();
}
