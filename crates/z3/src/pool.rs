//! As many running solvers as are needed at a time.

use std::env;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use foretell_arithmetic::{Answer, Problem, Solver};

use crate::process::{Process, SolverError};

/// Names another program to be run instead of `z3`.
const OTHER_PROGRAM: &str = "FORETELL_Z3";
/// A solver keeps to its time limit by itself. One that exceeds it by this much is terminated.
const GRACE: Duration = Duration::from_secs(2);
/// After so many failures in a row the program counts as no solver.
const FAILURES: u32 = 3;

/// The solver's program: `z3`, unless the environment names another one.
pub fn program() -> OsString {
    env::var_os(OTHER_PROGRAM).unwrap_or_else(|| "z3".into())
}

/// Solvers that are shared by threads. Each problem has a process to itself; processes are started on demand.
#[derive(Debug)]
pub struct Pool {
    program: OsString,
    idle: Mutex<Vec<Process>>,
    /// How many failures there were in a row.
    failures: AtomicU32,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::of(program())
    }
}

impl Pool {
    /// A pool of processes of this program.
    pub fn of(program: OsString) -> Pool {
        Pool { program, idle: Mutex::default(), failures: AtomicU32::new(0) }
    }

    fn try_to_solve(&self, problem: &Problem, time: Duration) -> Result<Answer, SolverError> {
        if self.is_unavailable() {
            return Err(SolverError::Missing);
        }
        let mut process = self.take().map_or_else(|| Process::spawn(&self.program), Ok)?;
        let (terminator, problem) = (process.terminator(), problem.clone());
        let (sender, receiver) = mpsc::channel();
        // Another thread talks to the solver, so that this one can stop waiting.
        thread::spawn(move || {
            let answer = process.greet().and_then(|()| process.solve(&problem, time));
            // The receiver is gone if the time was up.
            let _ = sender.send(answer.map(|answer| (process, answer)));
        });
        let Ok(answered) = receiver.recv_timeout(time.saturating_add(GRACE)) else {
            // It could outlive this process.
            terminator.terminate();
            return Err(SolverError::Silent);
        };
        let (process, answer) = answered?;
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(process);
        }
        Ok(answer)
    }

    fn take(&self) -> Option<Process> {
        self.idle.lock().ok().and_then(|mut idle| idle.pop())
    }
}

impl Solver for Pool {
    fn solve(&self, problem: &Problem, time: Duration) -> Option<Answer> {
        let answer = self.try_to_solve(problem, time);
        match answer {
            Ok(_) => self.failures.store(0, Ordering::Relaxed),
            Err(SolverError::Missing) => self.failures.store(FAILURES, Ordering::Relaxed),
            Err(_) => drop(self.failures.fetch_add(1, Ordering::Relaxed)),
        }
        answer.ok().filter(|answer| *answer != Answer::Unknown)
    }

    fn is_unavailable(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= FAILURES
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
            assert_eq!(pool.solve(&problem(), GRACE), Some(Answer::Impossible(Vec::new())));
        }
        assert!(!pool.is_unavailable());
    }

    #[test]
    fn without_a_solver_nothing_is_answered() {
        let pool = Pool::of("/there/is/no/such/solver".into());
        assert_eq!(pool.solve(&problem(), GRACE), None);
        assert!(pool.is_unavailable());
    }

    #[test]
    fn what_is_no_solver_answers_nothing_and_does_not_keep_us() {
        let begin = Instant::now();
        for pool in [script("silent", "#!/bin/sh\nsleep 30\n"), script("other", "#!/bin/sh\necho what\n")] {
            for _ in 0..FAILURES {
                assert!(!pool.is_unavailable(), "{:?} may still recover", pool.program);
                assert_eq!(pool.solve(&problem(), Duration::from_millis(10)), None);
            }
            assert!(pool.is_unavailable());
            fs::remove_file(&pool.program).unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(25));
    }

    #[test]
    fn who_does_not_answer_does_not_live_on() {
        let pool = script("stubborn", "#!/bin/sh\necho $$ > $0.pid\nexec sleep 600\n");
        assert_eq!(pool.solve(&problem(), Duration::from_millis(10)), None);
        let mut note = pool.program.clone();
        note.push(".pid");
        let id = fs::read_to_string(&note).unwrap();
        assert!(!fs::exists(format!("/proc/{}", id.trim())).unwrap(), "{id}");
        [note, pool.program].iter().for_each(|file| fs::remove_file(file).unwrap());
    }

    #[test]
    fn a_solver_that_does_not_know_is_asked_again() {
        let unknown = "#!/bin/sh\nwhile read -r line; do case $line in *ready*) echo ready;; *check-sat*) echo unknown;; esac; done\n";
        let pool = script("unknown", unknown);
        for _ in 0..=FAILURES {
            assert_eq!(pool.solve(&problem(), GRACE), None);
        }
        assert!(!pool.is_unavailable());
        fs::remove_file(&pool.program).unwrap();
    }
}
