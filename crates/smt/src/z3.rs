//! The solver: one process of `z3` that answers one question after another.

use std::fs;
use std::time::Duration;

pub use foretell_z3::SolverError;
use foretell_z3::{Process, program};

/// What the solver says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Something satisfies the formula.
    Sat,
    /// Nothing does.
    Unsat,
    /// The time was up.
    Unknown,
}

/// A verdict and what it cost.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// What the solver says.
    pub verdict: Verdict,
    /// CPU time of the solver to read the formula.
    pub reading: Duration,
    /// CPU time of the solver from then on to the verdict.
    pub solving: Duration,
}

/// A running solver. Ends with its owner.
#[derive(Debug)]
pub struct Solver {
    process: Process,
    timeout: Duration,
}

impl Solver {
    /// Starts a solver that spends at most so much time on each question.
    pub fn start(timeout: Duration) -> Result<Solver, SolverError> {
        Ok(Solver { process: Process::start(&program())?, timeout })
    }

    /// Whether the formula can be satisfied. `formula` is a whole problem without its question.
    pub fn check(&mut self, formula: &str) -> Result<Answer, SolverError> {
        let begin = self.cpu_time()?;
        // A reset rather than a level to go back to: with levels z3 would not use its strategy for difference logic.
        let timeout = self.timeout.as_millis();
        self.process.say(&format!("(reset)\n(set-option :timeout {timeout})\n{formula}(echo \"read\")\n"))?;
        self.process.expect("read")?;
        let read = self.cpu_time()?;
        self.process.say("(check-sat)\n")?;
        let verdict = match self.process.hear()?.as_str() {
            "sat" => Verdict::Sat,
            "unsat" => Verdict::Unsat,
            "unknown" | "timeout" => Verdict::Unknown,
            other => return Err(SolverError::Unexpected(other.to_string())),
        };
        let end = self.cpu_time()?;
        let (reading, solving) = (read.saturating_sub(begin), end.saturating_sub(read));
        Ok(Answer { verdict, reading, solving })
    }

    /// The CPU time of the process so far, as Linux counts it: in nanoseconds, for its main thread, which does the
    /// work.
    fn cpu_time(&self) -> Result<Duration, SolverError> {
        // The count is brought up to date when the thread goes to sleep, which it does right after its last word.
        while !self.sleeps()? {
            std::thread::yield_now();
        }
        let text = self.process_file("schedstat")?;
        let nanoseconds = text.split_whitespace().next().and_then(|field| field.parse().ok());
        nanoseconds.map(Duration::from_nanos).ok_or(SolverError::Unexpected(text))
    }

    /// Whether the process waits for input, or is gone.
    fn sleeps(&self) -> Result<bool, SolverError> {
        let text = self.process_file("stat")?;
        // The second field is the name of the program in parentheses; the state comes after it.
        let state = text.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
        Ok(state != Some('R'))
    }

    fn process_file(&self, name: &str) -> Result<String, SolverError> {
        Ok(fs::read_to_string(format!("/proc/{}/{name}", self.process.id()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solver() -> Solver {
        Solver::start(Duration::from_secs(5)).unwrap()
    }

    #[test]
    fn one_process_answers_several_questions() {
        let mut solver = solver();
        let possible =
            "(set-logic QF_IDL)\n(declare-const o1 Int)\n(declare-const o2 Int)\n(assert (< o1 o2))\n";
        let impossible = format!("{possible}(assert (< o2 o1))\n");
        for _ in 0..3 {
            assert_eq!(solver.check(possible).unwrap().verdict, Verdict::Sat);
            assert_eq!(solver.check(&impossible).unwrap().verdict, Verdict::Unsat);
        }
    }

    #[test]
    fn an_error_is_told() {
        let error = solver().check("(assert (< o1 o2))\n").unwrap_err();
        assert!(error.to_string().contains("o1"), "{error}");
    }

    #[test]
    fn cpu_time_is_counted_without_the_start_of_the_process() {
        let answer = solver().check("(set-logic QF_IDL)\n(declare-const o1 Int)\n").unwrap();
        assert!(answer.solving < Duration::from_millis(100), "{answer:?}");
    }
}
