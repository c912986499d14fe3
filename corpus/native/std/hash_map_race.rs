//! A map is changed while it is asked.
use std::cell::UnsafeCell;
use std::collections::HashMap;
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
    let shared = Shared(UnsafeCell::new(HashMap::from([(1_u64, 2_u64)])));
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.get().insert(1, 3); // races
        });
        scope.spawn(|| {
            assert!(shared.get().get(&1) != Some(&0)); // races
        });
    });
    std::mem::forget(shared);
}
