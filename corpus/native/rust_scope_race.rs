// Threads of one scope that share what they should not.
// race: 12 12
use std::cell::UnsafeCell;
use std::thread;

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

impl Shared {
    fn count(&self) {
        unsafe { *self.0.get() += 1 };
    }
}

fn main() {
    let shared = Shared(UnsafeCell::new(0));
    thread::scope(|scope| {
        // Without the names, the first one may be gone before the second begins, and that is noticed.
        let _one = scope.spawn(|| shared.count());
        let _two = scope.spawn(|| shared.count());
    });
}
