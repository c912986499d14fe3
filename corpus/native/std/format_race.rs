//! A number becomes text while it changes.
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
    let shared = Shared(UnsafeCell::new((1_u64, 2_u64)));
    thread::scope(|scope| {
        scope.spawn(|| {
            let text = format!("{:>8}", shared.get().1); // races
            assert!(text.len() == 8);
        });
        scope.spawn(|| {
            shared.get().1 = 5; // races
        });
    });
    std::mem::forget(shared);
}
