//! A buffer is written to a file under a lock.
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new([0_u8; 64]);
    thread::scope(|scope| {
        scope.spawn(|| {
            std::fs::write("/dev/null", &shared.lock().expect("a lock")[..]).expect("room");
        });
        scope.spawn(|| {
            shared.lock().expect("a lock")[0] = 5;
        });
    });
}
