// As it should be, but for the second barrier: the next round may begin while the other still reads.
// race: 19 21
// shown by: serial
use std::cell::UnsafeCell;
use std::sync::{Arc, Barrier};
use std::thread;

struct Field(UnsafeCell<u32>);

unsafe impl Sync for Field {}

fn main() {
    let fields = Arc::new([Field(UnsafeCell::new(0)), Field(UnsafeCell::new(0))]);
    let barrier = Arc::new(Barrier::new(2));
    let work = |me: usize| {
        let (fields, barrier) = (Arc::clone(&fields), Arc::clone(&barrier));
        move || {
            for round in 1..4 {
                unsafe { *fields[me].0.get() = round };
                barrier.wait();
                assert!(unsafe { *fields[1 - me].0.get() } >= round);
            }
        }
    };
    let (one, two) = (thread::spawn(work(0)), thread::spawn(work(1)));
    one.join().unwrap();
    two.join().unwrap();
}
