// A thread gets its token before it may look.
// race: 11 15
// shown by: serial
use std::thread;

static mut VALUE: u32 = 0;

fn main() {
    let reader = thread::spawn(|| {
        thread::park();
        unsafe { VALUE }
    });
    reader.thread().unpark();
    // Too late.
    unsafe { VALUE = 3 };
    reader.join().unwrap();
}
