// A spin lock of one's own: atomics with values.
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Spin {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Spin {}

impl Spin {
    fn with(&self, act: impl FnOnce(&mut u32)) {
        while self.taken.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
        act(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
    }
}

fn main() {
    let spin = Arc::new(Spin { taken: AtomicBool::new(false), value: UnsafeCell::new(0) });
    let work = |spin: Arc<Spin>| move || (0..5).for_each(|_| spin.with(|value| *value += 1));
    let (one, two) = (thread::spawn(work(Arc::clone(&spin))), thread::spawn(work(Arc::clone(&spin))));
    one.join().unwrap();
    two.join().unwrap();
    spin.with(|value| assert_eq!(*value, 10));
}
