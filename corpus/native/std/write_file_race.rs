//! A buffer is written to a file while it changes.
use std::cell::UnsafeCell;
use std::thread;

struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}
impl<T> Shared<T> {
    #[allow(clippy::mut_from_ref)]
    fn get(&self) -> &mut T {
        unsafe { &mut *self.0.get() }
    }
}

fn main() {
    let shared = Shared(UnsafeCell::new([0_u8; 64]));
    thread::scope(|scope| {
        scope.spawn(|| {
            std::fs::write("/dev/null", &shared.get()[..]).expect("room"); // races
        });
        scope.spawn(|| {
            shared.get()[0] = 5; // races
        });
    });
    std::mem::forget(shared);
}
