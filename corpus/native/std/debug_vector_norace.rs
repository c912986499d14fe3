//! A vector and its lock are written out.
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new(vec![1_u64, 2]);
    thread::scope(|scope| {
        scope.spawn(|| {
            println!("{:?}", shared.lock().expect("a lock"));
        });
        scope.spawn(|| {
            shared.lock().expect("a lock").push(3);
            let text = format!("{shared:?}");
            assert!(!text.is_empty());
        });
    });
}
