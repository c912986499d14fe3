//! Two threads count what nobody protects.

use std::thread;

use package::Unprotected;

fn main() {
    let number = Unprotected::default();
    thread::scope(|scope| {
        let _one = scope.spawn(|| number.count());
        let _two = scope.spawn(|| number.count());
    });
    println!("given: {:?}", std::env::args().skip(1).collect::<Vec<_>>());
}
