//! A string grows while its length is asked for.
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
    let shared = Shared(UnsafeCell::new(String::from("x")));
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.get().push_str("abcdefgh"); // races
        });
        scope.spawn(|| {
            assert!(shared.get().len() > 0); // races
        });
    });
    std::mem::forget(shared);
}
