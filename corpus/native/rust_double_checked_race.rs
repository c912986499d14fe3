// What is made once is looked at without asking whether it is done.
// race: 13 15
// Neither ends before the other began: the memory of the one would be the other's, which orders them.
use std::sync::{Barrier, Once};
use std::thread;

static ONCE: Once = Once::new();
static MEETING: Barrier = Barrier::new(2);
static mut VALUE: u32 = 0;

fn work() -> u32 {
    unsafe {
        if VALUE == 0 {
            ONCE.call_once(|| {
                VALUE = 7
            });
        }
    }
    MEETING.wait();
    0
}

fn main() {
    let workers = [thread::spawn(work), thread::spawn(work)];
    for worker in workers {
        worker.join().unwrap();
    }
}
