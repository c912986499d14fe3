//! A text is searched while it changes.
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
    let shared = Shared(UnsafeCell::new([b'a'; 40]));
    thread::scope(|scope| {
        scope.spawn(|| {
            let text = std::str::from_utf8(&shared.get()[..]).expect("letters"); // races
            assert!(!text.contains("zq")); // races
        });
        scope.spawn(|| {
            shared.get()[3] = b'z'; // races
        });
    });
    std::mem::forget(shared);
}
