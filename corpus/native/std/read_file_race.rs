//! A file is read into a buffer that another thread looks at.
use std::cell::UnsafeCell;
use std::io::Read as _;
use std::thread;

struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}
impl<T> Shared<T> {
    #[allow(clippy::mut_from_ref)]
    fn get(&self) -> &mut T {
        unsafe { &mut *self.0.get() }
    }
}

fn main() {
    let shared = Shared(UnsafeCell::new([0_u8; 64]));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::File::open("/dev/zero").expect("a file");
            let read = file.read(&mut shared.get()[..]).expect("bytes"); // races
            assert!(read == 64);
        });
        scope.spawn(|| {
            assert!(shared.get()[0] == 0); // races
        });
    });
    std::mem::forget(shared);
}
