// A vector grows while somebody else looks at its length.
// race: 18 24
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread;

struct Shared(UnsafeCell<Vec<u32>>);

unsafe impl Sync for Shared {}

fn main() {
    let shared = Arc::new(Shared(UnsafeCell::new(Vec::with_capacity(4))));
    let writer = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let list = unsafe { &mut *shared.0.get() };
            unsafe {
                list.set_len(1)
            };
        })
    };
    let list = unsafe { &*shared.0.get() };
    let length =
        list.len();
    writer.join().unwrap();
    assert!(length < 2);
}
