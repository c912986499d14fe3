//! A field is printed while it changes.
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
            println!("{}", shared.get().0); // races
        });
        scope.spawn(|| {
            shared.get().0 = 5; // races
        });
    });
    std::mem::forget(shared);
}
