// All threads take the mutexes in the order of their numbers.
use std::sync::Mutex;
use std::thread;

fn transfer(accounts: &[Mutex<i64>], from: usize, to: usize) {
    let mut first = accounts[from.min(to)].lock().unwrap();
    let mut second = accounts[from.max(to)].lock().unwrap();
    let change = if from < to { 10 } else { -10 };
    *first -= change;
    *second += change;
}

fn main() {
    let accounts = [Mutex::new(100), Mutex::new(50)];
    thread::scope(|scope| {
        scope.spawn(|| transfer(&accounts, 0, 1));
        scope.spawn(|| transfer(&accounts, 1, 0));
    });
}
