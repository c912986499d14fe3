// What is made once is looked at without asking whether it is done.
// race: 13 11
use std::sync::Once;
use std::thread;

static ONCE: Once = Once::new();
static mut VALUE: u32 = 0;

fn work() -> u32 {
    unsafe {
        if VALUE == 0 {
            ONCE.call_once(|| {
                VALUE = 7
            });
        }
        0
    }
}

fn main() {
    let workers = [thread::spawn(work), thread::spawn(work)];
    for worker in workers {
        worker.join().unwrap();
    }
}
