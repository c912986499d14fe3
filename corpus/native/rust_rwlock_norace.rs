// Readers and writers of a read-write lock.
use std::sync::{Arc, RwLock};
use std::thread;

fn main() {
    let value = Arc::new(RwLock::new((1, 1)));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let value = Arc::clone(&value);
            thread::spawn(move || {
                for _ in 0..5 {
                    let both = value.read().unwrap();
                    assert_eq!(both.0, both.1);
                    drop(both);
                    if let Ok(both) = value.try_read() {
                        assert_eq!(both.0, both.1);
                    }
                }
            })
        })
        .collect();
    for _ in 0..5 {
        let mut both = value.write().unwrap();
        both.0 += 1;
        both.1 += 1;
        drop(both);
        if let Ok(mut both) = value.try_write() {
            both.0 += 1;
            both.1 += 1;
        }
    }
    for reader in readers {
        reader.join().unwrap();
    }
}
