// A thread waits for its token before it looks.
use std::thread;

static mut VALUE: u32 = 0;

fn main() {
    let reader = thread::spawn(|| {
        thread::park();
        unsafe { VALUE }
    });
    unsafe { VALUE = 3 };
    reader.thread().unpark();
    reader.join().unwrap();
}
