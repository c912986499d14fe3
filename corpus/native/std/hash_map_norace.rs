//! A map is changed under a lock.
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

fn main() {
    let shared = Mutex::new(HashMap::from([(1_u64, 2_u64)]));
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.lock().expect("a lock").insert(2, 3);
        });
        scope.spawn(|| {
            assert!(shared.lock().expect("a lock").get(&1).is_some());
        });
    });
}
