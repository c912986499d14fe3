//! A vector is sorted while its first element is read.
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
    let shared = Shared(UnsafeCell::new(vec![3_u64, 2, 1, 7, 5, 9, 4]));
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.get().sort(); // races
        });
        scope.spawn(|| {
            assert!(shared.get()[0] > 0); // races
        });
    });
    std::mem::forget(shared);
}
