//! Threads with names, results and panics, and variables of their own.
use std::cell::RefCell;
use std::thread;

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn main() {
    let threads: Vec<_> = (0..3_u64)
        .map(|number| {
            let body = move || {
                SEEN.with_borrow_mut(|seen| seen.push(format!("{:?}", thread::current().name())));
                vec![number; 4]
            };
            thread::Builder::new().name(format!("worker {number}")).spawn(body).expect("a thread")
        })
        .collect();
    let sum: u64 = threads.into_iter().flat_map(|thread| thread.join().expect("a result")).sum();
    assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
    println!("{sum}");
}
