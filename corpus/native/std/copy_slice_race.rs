//! A slice is overwritten while an element is read.
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
            shared.get().copy_from_slice(&[1; 64]); // races
        });
        scope.spawn(|| {
            assert!(shared.get()[9] < 2); // races
        });
    });
    std::mem::forget(shared);
}
