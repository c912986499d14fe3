//! The environment, arguments and time are asked for beside each other.
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let ask = || {
        let begin = Instant::now();
        let home = std::env::var("HOME").unwrap_or_default();
        let parts = std::env::args().map(|argument| argument.len()).sum::<usize>();
        assert!(begin.elapsed() < Duration::from_secs(600) && home.len() + parts > 0);
    };
    thread::scope(|scope| {
        scope.spawn(ask);
        scope.spawn(ask);
    });
}
