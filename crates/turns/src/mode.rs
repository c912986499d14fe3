//! How the threads of the process run, chosen once when it begins.

use std::sync::atomic::{AtomicU8, Ordering};

/// How threads run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// One at a time; the seed chooses the next one.
    Random,
    /// One at a time; a strategy chooses the next one.
    Strategy,
    /// One at a time; a schedule names the next one, until the process leaves it.
    Schedule,
    /// In parallel; accesses lock stripes of memory.
    Parallel,
}

static MODE: AtomicU8 = AtomicU8::new(Mode::Random as u8);

/// Decides, before there is a second thread. Only the end of a schedule changes it later: see `scheduler/replay.rs`.
pub fn set(mode: Mode) {
    MODE.store(mode as u8, Ordering::Relaxed);
}

#[inline]
fn is(mode: Mode) -> bool {
    MODE.load(Ordering::Relaxed) == mode as u8
}

/// Whether threads run in parallel.
#[inline]
pub fn is_parallel() -> bool {
    is(Mode::Parallel)
}

/// Whether a schedule is being followed.
#[inline]
pub fn is_scheduled() -> bool {
    is(Mode::Schedule)
}

/// Whether a strategy chooses the next thread.
#[inline]
pub fn is_strategic() -> bool {
    is(Mode::Strategy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mode_holds_at_a_time() {
        for mode in [Mode::Parallel, Mode::Schedule, Mode::Strategy, Mode::Random] {
            set(mode);
            let found = [is_parallel(), is_scheduled(), is_strategic()];
            let expected = [Mode::Parallel, Mode::Schedule, Mode::Strategy].map(|other| other == mode);
            assert_eq!(found, expected, "{mode:?}");
        }
    }
}
