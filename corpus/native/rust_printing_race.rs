// What is printed between does not keep the two apart.
// race: 9 17
use std::thread;

static mut VALUE: u32 = 0;

fn main() {
    let writer = thread::spawn(|| {
        unsafe { VALUE = 1 };
        let (number, name) = (1, "one");
        println!("{number} is {name}");
    });
    let other = thread::spawn(|| {
        for number in 0..3 {
            println!("{number}");
        }
        unsafe { VALUE }
    });
    writer.join().unwrap();
    other.join().unwrap();
}
