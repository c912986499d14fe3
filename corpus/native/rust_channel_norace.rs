// Boxes travel through channels of all kinds; whoever has one may change it.
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

fn main() {
    let (to_first, first) = channel::<Box<u32>>();
    let (to_second, second) = sync_channel::<Box<u32>>(1);
    let (to_third, third) = sync_channel::<Box<u32>>(0);
    let one = thread::spawn(move || {
        for mut value in first {
            *value += 1;
            to_second.send(value).unwrap();
        }
    });
    let two = thread::spawn(move || {
        for mut value in second {
            *value += 1;
            to_third.send(value).unwrap();
        }
    });
    for value in 0..3 {
        to_first.send(Box::new(value)).unwrap();
    }
    drop(to_first);
    assert_eq!(third.iter().map(|value| *value).collect::<Vec<_>>(), [2, 3, 4]);
    one.join().unwrap();
    two.join().unwrap();
}
