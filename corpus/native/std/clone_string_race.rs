//! A string is copied while a letter changes.
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
    let shared = Shared(UnsafeCell::new(String::from("abc")));
    thread::scope(|scope| {
        scope.spawn(|| {
            let copy = shared.get().clone(); // races
            assert!(copy.len() == 3);
        });
        scope.spawn(|| {
            unsafe { shared.get().as_bytes_mut()[0] = b'z' }; // races
        });
    });
    std::mem::forget(shared);
}
