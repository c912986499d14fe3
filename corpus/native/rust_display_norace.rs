// What is changed while it is printed is protected by the lock of standard output.
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;
use std::thread;

struct Counted(UnsafeCell<u32>);

unsafe impl Sync for Counted {}

impl fmt::Display for Counted {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = unsafe { &mut *self.0.get() };
        *value += 1;
        to.write_str("counted")
    }
}

fn main() {
    let counted = Arc::new(Counted(UnsafeCell::new(0)));
    let work = |counted: Arc<Counted>| move || println!("{counted}");
    let one = thread::spawn(work(Arc::clone(&counted)));
    let two = thread::spawn(work(counted));
    one.join().unwrap();
    two.join().unwrap();
}
