// A static that is counted up without a lock.
// race: 9 9
use std::thread;

static mut COUNTER: u32 = 0;

fn count() {
    for _ in 0..5 {
        unsafe { COUNTER += 1 };
    }
}

fn main() {
    let workers = [thread::spawn(count), thread::spawn(count)];
    for worker in workers {
        worker.join().unwrap();
    }
}
