// Threads of one scope that share what they should not.
// race: 16 16
use std::cell::UnsafeCell;
use std::thread;

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

fn main() {
    let shared = Shared(UnsafeCell::new(0));
    let work = || {
        let value = shared.0.get();
        unsafe {
            // Not `&mut`: two of them would be wrong by themselves.
            *value += 1;
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}
