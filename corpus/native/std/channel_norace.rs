//! Texts go through a channel, and a panic message through none.
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel::<String>();
    let other = sender.clone();
    let threads = [
        thread::spawn(move || sender.send(format!("{:?}", [1, 2])).expect("a receiver")),
        thread::spawn(move || other.send("b".repeat(3)).expect("a receiver")),
    ];
    let mut all: Vec<String> = receiver.iter().collect();
    all.sort();
    println!("{}", all.join(" "));
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
}
