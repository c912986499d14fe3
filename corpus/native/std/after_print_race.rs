//! Printing beside a race does not hide it.
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
    let shared = Shared(UnsafeCell::new(7_u64));
    thread::scope(|scope| {
        scope.spawn(|| {
            *shared.get() += 1; // races
            println!("{}", 12.5);
        });
        scope.spawn(|| {
            let text = 5.to_string();
            *shared.get() += text.len() as u64; // races
        });
    });
    std::mem::forget(shared);
}
