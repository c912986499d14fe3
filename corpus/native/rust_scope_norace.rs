// Threads that end with their scope, each with a part of the data.
use std::thread;

fn main() {
    let mut parts = [0; 3];
    thread::scope(|scope| {
        for (index, part) in parts.iter_mut().enumerate() {
            scope.spawn(move || *part = index + 1);
        }
    });
    assert_eq!(parts.iter().sum::<usize>(), 6);
}
