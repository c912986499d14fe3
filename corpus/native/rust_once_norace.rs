// Things that are made once, by whoever comes first.
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<Vec<u32>> = LazyLock::new(|| vec![1, 2, 3]);
static mut VALUE: u32 = 0;

fn work() -> u32 {
    ONCE.call_once(|| unsafe { VALUE = 7 });
    let cell = *CELL.get_or_init(|| 5);
    unsafe { VALUE + cell + LAZY[0] + LAZY[2] }
}

fn main() {
    let workers = [thread::spawn(work), thread::spawn(work), thread::spawn(work)];
    for worker in workers {
        assert_eq!(worker.join().unwrap(), 16);
    }
}
