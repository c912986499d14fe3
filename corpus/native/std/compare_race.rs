//! Slices are compared while one of them changes.
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
            std::hint::black_box(shared.get()[..] == [b'a'; 40][..]); // races
        });
        scope.spawn(|| {
            shared.get()[3] = b'b'; // races
        });
    });
    std::mem::forget(shared);
}
