//! A field is printed under a lock.
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new((1_u64, 2_u64));
    thread::scope(|scope| {
        scope.spawn(|| {
            let shared = shared.lock().expect("a lock");
            println!("{}", shared.0);
        });
        scope.spawn(|| {
            shared.lock().expect("a lock").0 = 5;
        });
    });
}
