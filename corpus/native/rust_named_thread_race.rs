// Threads with names and stacks of a given size count up a static without a lock.
// race: 7 7
use std::thread;

static mut COUNTER: u32 = 0;

fn count() { unsafe { COUNTER += 1 } }

fn main() {
    let start = |name: &str| {
        let builder = thread::Builder::new().name(name.to_string()).stack_size(1 << 20);
        builder.spawn(count).expect("a thread")
    };
    let threads = ["first", "second"].map(start);
    threads.map(|thread| thread.join().expect("it ends"));
}
