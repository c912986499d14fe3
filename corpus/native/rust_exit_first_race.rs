// The program ends before its threads have run.
// race: 12 12
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static MAY_GO: AtomicBool = AtomicBool::new(false);
static mut COUNTER: u32 = 0;
fn count() {
    while !MAY_GO.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    unsafe { COUNTER += 1 };
}

fn main() {
    for _ in 0..2 {
        thread::spawn(count);
    }
    MAY_GO.store(true, Ordering::Relaxed);
}
