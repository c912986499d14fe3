//! A vector is written out while an element changes.
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
    let shared = Shared(UnsafeCell::new(vec![1_u64, 2]));
    thread::scope(|scope| {
        scope.spawn(|| {
            let text = format!("{:?}", shared.get()); // races
            assert!(!text.is_empty());
        });
        scope.spawn(|| {
            shared.get()[1] = 5; // races
        });
    });
    std::mem::forget(shared);
}
