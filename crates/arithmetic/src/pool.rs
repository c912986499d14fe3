//! As many running solvers as are needed at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::problem::{Answer, Problem};
use crate::process::{Process, SolverError};

/// Solvers that are shared by threads: each question has one for itself, and they are started when there is something to ask.
#[derive(Debug, Default)]
pub struct Pool {
    idle: Mutex<Vec<Process>>,
    /// Set once there turned out to be no solver.
    missing: AtomicBool,
    asked: AtomicU64,
    unanswered: AtomicU64,
}

impl Pool {
    /// The answer to a problem for which a solver has so much time; none if nobody knows. Whatever goes wrong with a solver, it is that the
    /// question is not answered.
    pub fn ask(&self, problem: &Problem, time: Duration) -> Option<Answer> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.try_to_ask(problem, time);
        if let Err(SolverError::Missing) = answer {
            self.missing.store(true, Ordering::Relaxed);
        }
        let answer = answer.ok().filter(|answer| *answer != Answer::Unknown);
        if answer.is_none() {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// Whether there turned out to be no solver.
    pub fn is_missing(&self) -> bool {
        self.missing.load(Ordering::Relaxed)
    }

    /// How many questions were asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// How many of them were not answered.
    pub fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    fn try_to_ask(&self, problem: &Problem, time: Duration) -> Result<Answer, SolverError> {
        if self.is_missing() {
            return Err(SolverError::Missing);
        }
        let mut process = match self.take() {
            Some(process) => process,
            None => Process::start()?,
        };
        let answer = problem.ask(&mut process, time)?;
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(process);
        }
        Ok(answer)
    }

    fn take(&self) -> Option<Process> {
        self.idle.lock().ok().and_then(|mut idle| idle.pop())
    }
}
