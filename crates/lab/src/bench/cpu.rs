//! CPU time, as Linux counts it.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// Ticks per second of the times in `/proc/*/stat`: fixed at 100 for user space.
const TICKS: f64 = 100.0;

/// A point in CPU time.
pub(crate) struct CpuTime {
    clock: fn() -> f64,
    begin: f64,
}

impl CpuTime {
    /// Time that this thread has computed for.
    pub(crate) fn of_this_thread() -> CpuTime {
        CpuTime::start(thread_seconds)
    }

    /// Time that child processes which have ended computed for. Counts in hundredths of a second.
    pub(crate) fn of_children() -> CpuTime {
        CpuTime::start(children_seconds)
    }

    fn start(clock: fn() -> f64) -> CpuTime {
        CpuTime { clock, begin: clock() }
    }

    /// Seconds since the start.
    pub(crate) fn elapsed(&self) -> f64 {
        (self.clock)() - self.begin
    }
}

#[expect(clippy::cast_precision_loss, reason = "a thread runs for seconds, not for years")]
fn thread_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn children_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the name of the program in parentheses and may contain anything.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |field: usize| fields.get(field).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(13) + ticks(14)) / TICKS
}
