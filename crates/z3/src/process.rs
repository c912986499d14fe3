//! One process of `z3` that answers one question after another.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foretell_arithmetic::problem::core;
use foretell_arithmetic::{Answer, Problem};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SolverError {
    /// The program is not there.
    #[error("the program `z3` is missing; on Debian: sudo apt-get install z3")]
    Missing,
    /// The pipe to the process failed.
    #[error("cannot talk to z3: {0}")]
    Pipe(#[from] std::io::Error),
    /// It has not answered in time.
    #[error("z3 does not answer")]
    Silent,
    /// It answered something unexpected.
    #[error("z3 said `{0}`")]
    Unexpected(String),
}

/// A running solver. Terminates with its owner.
#[derive(Debug)]
pub struct Process {
    id: u32,
    terminator: Terminator,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a solver: this program, which is `z3` or understands what that does.
    pub fn start(program: &OsStr) -> Result<Process, SolverError> {
        let mut solver = Process::spawn(program)?;
        solver.greet()?;
        Ok(solver)
    }

    /// Begins to start a solver.
    pub(crate) fn spawn(program: &OsStr) -> Result<Process, SolverError> {
        let mut process = Command::new(program)
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => SolverError::Missing,
                _ => SolverError::Pipe(error),
            })?;
        let closed = || SolverError::Unexpected("no pipe".to_string());
        let input = process.stdin.take().ok_or_else(closed)?;
        let output = process.stdout.take().ok_or_else(closed)?;
        let (id, terminator) = (process.id(), Terminator(Arc::new(Mutex::new(process))));
        Ok(Process { id, terminator, input, output: BufReader::new(output) })
    }

    /// Waits until the solver has started.
    pub(crate) fn greet(&mut self) -> Result<(), SolverError> {
        self.say("(echo \"ready\")\n")?;
        self.expect("ready")
    }

    /// Terminates the process from another thread, while its answer is waited for.
    pub(crate) fn terminator(&self) -> Terminator {
        self.terminator.clone()
    }

    /// Solves the problem; the solver spends at most `time` on it.
    pub fn solve(&mut self, problem: &Problem, time: Duration) -> Result<Answer, SolverError> {
        self.say(&problem.query(time))?;
        match self.hear()?.as_str() {
            "sat" => Ok(Answer::Possible),
            "unsat" => {
                self.say("(get-unsat-core)\n")?;
                let line = self.hear()?;
                core(&line).map(Answer::Impossible).ok_or(SolverError::Unexpected(line))
            }
            "unknown" | "timeout" => Ok(Answer::Unknown),
            other => Err(SolverError::Unexpected(other.to_string())),
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Sends a command.
    pub fn say(&mut self, text: &str) -> Result<(), SolverError> {
        self.input.write_all(text.as_bytes())?;
        Ok(self.input.flush()?)
    }

    /// The next line of its output.
    pub fn hear(&mut self) -> Result<String, SolverError> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(SolverError::Unexpected("nothing more".to_string()));
        }
        Ok(line.trim_end().to_string())
    }

    /// Reads the next line, which must be this one.
    pub fn expect(&mut self, wanted: &str) -> Result<(), SolverError> {
        match self.hear()? {
            line if line == wanted => Ok(()),
            line => Err(SolverError::Unexpected(line)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.terminator.terminate();
    }
}

/// Terminates a solver.
#[derive(Clone, Debug)]
pub(crate) struct Terminator(Arc<Mutex<Child>>);

impl Terminator {
    /// Terminates it, whatever it is doing.
    pub(crate) fn terminate(&self) {
        if let Ok(mut process) = self.0.lock() {
            // It may have exited already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_arithmetic::Number;
    use foretell_trace::values::Binary;

    use crate::pool::program;

    const TIME: Duration = Duration::from_secs(10);

    /// Whether the operation gives this result.
    fn gives(op: Binary, width: u8, left: u64, right: u64, result: u64) -> bool {
        let mut problem = Problem::default();
        let (left, right) = (problem.constant(left), problem.constant(right));
        let (found, result) = (problem.binary(op, width, left, right), problem.constant(result));
        problem.same(found, result);
        Process::start(&program()).unwrap().solve(&problem, TIME).unwrap() == Answer::Possible
    }

    #[test]
    fn operations_have_their_width() {
        assert!(gives(Binary::Add, 8, 255, 1, 0) && !gives(Binary::Add, 8, 255, 1, 256));
        assert!(gives(Binary::Subtract, 32, 0, 1, 0xffff_ffff));
        assert!(gives(Binary::DivideSigned, 8, 0x80, 0xff, 0x80));
        assert!(gives(Binary::RemainderSigned, 64, 7u64.wrapping_neg(), 3, u64::MAX));
        assert!(gives(Binary::LessSigned, 8, 0x80, 1, 1) && gives(Binary::LessUnsigned, 8, 0x80, 1, 0));
        assert!(gives(Binary::Equal, 1, 3, 1, 1), "only the lowest bit counts");
        assert!(gives(Binary::ShiftRightSigned, 8, 0x80, 7, 0xff));
    }

    #[test]
    fn only_what_matters_is_blamed() {
        let mut problem = Problem::default();
        let [one, two, three] = [1, 2, 3].map(|value| problem.constant(value));
        let mut read = |of: [Number; 2]| {
            let (number, choices) = (problem.free(), [problem.choice(), problem.choice()]);
            problem.one_of(&choices);
            for (choice, source) in choices.into_iter().zip(of) {
                problem.implies_same(choice, number, source);
            }
            (number, choices)
        };
        let (x, sees_x) = read([one, two]);
        let (y, sees_y) = read([one, one]);
        let sum = problem.binary(Binary::Add, 64, x, y);
        problem.same(sum, three);
        let mut other = problem.clone();
        problem.assume(sees_x[0]);
        problem.assume(sees_y[0]);
        let mut process = Process::start(&program()).unwrap();
        assert_eq!(process.solve(&problem, TIME).unwrap(), Answer::Impossible(vec![sees_x[0]]));
        other.assume(sees_x[1]);
        other.assume(sees_y[1]);
        assert_eq!(process.solve(&other, TIME).unwrap(), Answer::Possible, "the same process answers again");
    }
}
