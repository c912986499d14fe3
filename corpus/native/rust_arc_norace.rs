// Whoever is the last to let go drops the value, which others have used before.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Value(AtomicU32, Vec<u32>);

impl Drop for Value {
    fn drop(&mut self) {
        self.1.push(self.0.load(Ordering::Relaxed));
    }
}

fn main() {
    let value = Arc::new(Value(AtomicU32::new(0), vec![1]));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let value = Arc::clone(&value);
            thread::spawn(move || value.0.fetch_add(value.1[0], Ordering::Relaxed))
        })
        .collect();
    drop(value);
    for worker in workers {
        worker.join().unwrap();
    }
}
