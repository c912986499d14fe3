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
        scope.spawn(|| shared.count());
        scope.spawn(|| shared.count());
    });
}
