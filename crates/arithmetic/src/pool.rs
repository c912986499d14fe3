//! As many running solvers as are needed at a time.

use std::env;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::problem::{Answer, Problem};
use crate::process::{Process, SolverError};

/// Names another program to be run instead of `z3`.
const OTHER_PROGRAM: &str = "FORETELL_Z3";
/// A solver keeps to its time by itself. One that has said nothing for so much longer is not waited for.
const GRACE: Duration = Duration::from_secs(2);

/// The program to ask: `z3`, unless the environment names another one.
pub fn program() -> OsString {
    env::var_os(OTHER_PROGRAM).unwrap_or_else(|| "z3".into())
}

/// Solvers that are shared by threads: each question has one for itself, and they are started when there is something to ask.
#[derive(Debug)]
pub struct Pool {
    program: OsString,
    idle: Mutex<Vec<Process>>,
    /// Set once there turned out to be no solver.
    missing: AtomicBool,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::of(program())
    }
}

impl Pool {
    /// Solvers that are this program.
    pub fn of(program: OsString) -> Pool {
        Pool { program, idle: Mutex::default(), missing: AtomicBool::new(false) }
    }

    /// The answer to a problem for which a solver has so much time; none if nobody knows. Whatever goes wrong with a solver, it is that the
    /// question is not answered.
    pub fn ask(&self, problem: &Problem, time: Duration) -> Option<Answer> {
        let answer = self.try_to_ask(problem, time);
        if let Err(SolverError::Missing) = answer {
            self.missing.store(true, Ordering::Relaxed);
        }
        answer.ok().filter(|answer| *answer != Answer::Unknown)
    }

    /// Whether there turned out to be no solver.
    pub fn is_missing(&self) -> bool {
        self.missing.load(Ordering::Relaxed)
    }

    fn try_to_ask(&self, problem: &Problem, time: Duration) -> Result<Answer, SolverError> {
        if self.is_missing() {
            return Err(SolverError::Missing);
        }
        let (program, idle, problem) = (self.program.clone(), self.take(), problem.clone());
        let (sender, receiver) = mpsc::channel();
        // Somebody else talks with the solver, so that nobody waits for one that does not answer. It ends when we do.
        thread::spawn(move || {
            let answered = idle.map_or_else(|| Process::start(&program), Ok).and_then(|mut process| {
                let answer = problem.ask(&mut process, time)?;
                Ok((process, answer))
            });
            // Whoever asked may have left.
            let _ = sender.send(answered);
        });
        let (process, answer) =
            receiver.recv_timeout(time.saturating_add(GRACE)).unwrap_or(Err(SolverError::Silent))?;
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(process);
        }
        Ok(answer)
    }

    fn take(&self) -> Option<Process> {
        self.idle.lock().ok().and_then(|mut idle| idle.pop())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use super::*;

    /// A problem that has no solution.
    fn problem() -> Problem {
        let mut problem = Problem::default();
        let (one, two) = (problem.constant(1), problem.constant(2));
        problem.same(one, two);
        problem
    }

    /// A pool of solvers that are this script.
    fn script(name: &str, text: &str) -> Pool {
        let path = env::temp_dir().join(format!("foretell-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Pool::of(path.into())
    }

    #[test]
    fn a_solver_answers_again_and_again() {
        let pool = Pool::default();
        for _ in 0..3 {
            assert_eq!(pool.ask(&problem(), GRACE), Some(Answer::Impossible(Vec::new())));
        }
        assert!(!pool.is_missing());
    }

    #[test]
    fn without_a_solver_nothing_is_answered() {
        let pool = Pool::of("/there/is/no/such/solver".into());
        assert_eq!(pool.ask(&problem(), GRACE), None);
        assert!(pool.is_missing());
    }

    #[test]
    fn what_is_no_solver_answers_nothing_and_does_not_keep_us() {
        let begin = Instant::now();
        for pool in [script("silent", "#!/bin/sh\nsleep 30\n"), script("other", "#!/bin/sh\necho what\n")] {
            assert_eq!(pool.ask(&problem(), Duration::from_millis(10)), None);
            assert!(!pool.is_missing(), "there is something, if not what it should be");
            fs::remove_file(&pool.program).unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}
