//! How a caller stops an analysis, and how it follows the progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use foretell_predict::{NoSolver, Solver};

/// How many races are listed if everything is to stop: to look up and to name each of very many takes seconds.
pub(crate) const LISTED_LATE: usize = 2_000;

/// What an analysis asks its caller while it works.
pub trait Control: Sync {
    /// Set once everything is to stop. What is known by then is still returned.
    fn stop_flag(&self) -> &AtomicBool;

    /// Whether everything is to stop.
    fn is_stopped(&self) -> bool {
        self.stop_flag().load(Ordering::Relaxed)
    }

    /// Whether the stop was some time ago, so that results are no longer made readable either.
    fn is_urgent(&self) -> bool {
        self.is_stopped()
    }

    /// Whether the user has stopped the analysis, and not a limit.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Whether only so much is reported as can be reported at once.
    fn must_report_at_once(&self) -> bool {
        self.is_interrupted() || self.is_urgent()
    }

    /// Whether the time limit was reached.
    fn is_time_over(&self) -> bool {
        false
    }

    /// How many bytes of memory are available, where that is known.
    fn available_memory(&self) -> Option<u64> {
        None
    }

    /// The memory limit in bytes, if it was reached, and whether the user has set it.
    fn reached_memory_limit(&self) -> Option<(u64, bool)> {
        None
    }

    /// The solver that is asked about computed values.
    fn solver(&self) -> Arc<dyn Solver> {
        Arc::new(NoSolver)
    }

    /// Shows the progress of some work on pairs until the result is dropped.
    fn progress(&self, doing: &str) -> Box<dyn Progress> {
        let _ = doing;
        Box::new(NoProgress)
    }
}

/// The progress of work that consists of pieces.
pub trait Progress: Sync {
    /// So many more pieces have come up.
    fn expect(&self, pieces: usize);

    /// One piece is done.
    fn worked(&self);
}

/// Shows nothing.
struct NoProgress;

impl Progress for NoProgress {
    fn expect(&self, _: usize) {}

    fn worked(&self) {}
}

/// A control without a user: stopped by the program that owns it, or by a limit of time.
#[derive(Debug, Default)]
pub struct Unattended {
    stop: Arc<AtomicBool>,
    is_time_over: Arc<AtomicBool>,
    solver: Option<Arc<dyn Solver>>,
    /// Waits for the end of the time. It ends when the sender is dropped.
    watchdog: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Unattended {
    /// A control that stops nothing.
    pub fn new() -> Unattended {
        Unattended::default()
    }

    /// A control that stops after this time, if there is a limit. The time begins now.
    pub fn within(limit: Option<Duration>) -> std::io::Result<Unattended> {
        let mut control = Unattended::new();
        let Some(limit) = limit else { return Ok(control) };
        let (sender, receiver) = mpsc::channel();
        let (stop, is_time_over) = (Arc::clone(&control.stop), Arc::clone(&control.is_time_over));
        let wait = move || {
            if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                is_time_over.store(true, Ordering::SeqCst);
                stop.store(true, Ordering::SeqCst);
            }
        };
        let watchdog = thread::Builder::new().name("time limit".to_string()).spawn(wait)?;
        control.watchdog = Some((sender, watchdog));
        Ok(control)
    }

    /// The same with a solver for computed values.
    #[must_use]
    pub fn with_solver(mut self, solver: Arc<dyn Solver>) -> Unattended {
        self.solver = Some(solver);
        self
    }

    /// Stops the analysis; may be called by any thread.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

impl Control for Unattended {
    fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    fn is_urgent(&self) -> bool {
        false
    }

    fn is_interrupted(&self) -> bool {
        self.is_stopped() && !self.is_time_over()
    }

    fn is_time_over(&self) -> bool {
        self.is_time_over.load(Ordering::SeqCst)
    }

    fn solver(&self) -> Arc<dyn Solver> {
        self.solver.clone().unwrap_or_else(|| Arc::new(NoSolver))
    }
}

impl Drop for Unattended {
    fn drop(&mut self) {
        if let Some((sender, watchdog)) = self.watchdog.take() {
            drop(sender);
            // It cannot panic, and if it did there would be nothing to clean up.
            let _ = watchdog.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_stops_when_told_and_when_the_time_is_over() {
        let control = Unattended::new();
        assert!(!control.is_stopped());
        control.stop();
        assert!(control.is_stopped() && control.is_interrupted() && !control.is_time_over());
        let control = Unattended::within(Some(Duration::from_millis(5))).unwrap();
        while !control.is_stopped() {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(control.is_time_over() && !control.is_interrupted());
        let control = Unattended::within(Some(Duration::MAX)).unwrap();
        assert!(!control.is_stopped());
    }
}
