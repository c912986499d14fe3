//! The lock of standard output protects what is changed under it.
use std::cell::UnsafeCell;
use std::io::Write as _;
use std::thread;

struct Shared(UnsafeCell<u64>);
unsafe impl Sync for Shared {}

fn main() {
    let shared = Shared(UnsafeCell::new(0));
    let count = |shared: &Shared| {
        let mut out = std::io::stdout().lock();
        unsafe { *shared.0.get() += 1 };
        writeln!(out, "one more").expect("room");
    };
    thread::scope(|scope| {
        scope.spawn(|| count(&shared));
        scope.spawn(|| count(&shared));
    });
}
