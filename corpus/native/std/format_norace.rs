//! A number becomes text under a lock.
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new((1_u64, 2_u64));
    thread::scope(|scope| {
        scope.spawn(|| {
            let text = format!("{:>8}", shared.lock().expect("a lock").1);
            assert!(text.len() == 8);
        });
        scope.spawn(|| {
            shared.lock().expect("a lock").1 = 5;
        });
    });
}
