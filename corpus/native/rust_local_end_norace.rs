// Functions that wait until others are done with their variables, one after the other in the same place of the stack.
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc;
use std::thread;

static KNOWN: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());

fn lend(round: u32) {
    let mut variable = round;
    KNOWN.store(&raw mut variable, Ordering::Release);
    while !KNOWN.load(Ordering::Acquire).is_null() {
        thread::yield_now();
    }
    assert_eq!(variable, round + 1);
}

fn borrow() {
    for _ in 0..3 {
        while KNOWN.load(Ordering::Acquire).is_null() {
            thread::yield_now();
        }
        unsafe { *KNOWN.load(Ordering::Relaxed) += 1 };
        KNOWN.store(ptr::null_mut(), Ordering::Release);
    }
}

fn scoped(round: u32) -> u32 {
    let mut sum = round;
    thread::scope(|scope| {
        scope.spawn(|| sum += 1);
    });
    let (sender, receiver) = mpsc::channel();
    let list = [sum, sum + 1];
    thread::scope(|scope| {
        scope.spawn(|| sender.send(list.iter().sum::<u32>()).unwrap());
        receiver.recv().unwrap()
    })
}

fn main() {
    let borrower = thread::spawn(borrow);
    (0..3).for_each(lend);
    assert_eq!(scoped(1), 5);
    borrower.join().unwrap();
}
