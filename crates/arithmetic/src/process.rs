//! The solver: one process of `z3` that answers one question after another.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SolverError {
    /// The program is not there.
    #[error("the program `z3` is missing; on Debian: sudo apt-get install z3")]
    Missing,
    /// The process cannot be talked to.
    #[error("cannot talk to z3: {0}")]
    Pipe(#[from] std::io::Error),
    /// It has said nothing for too long.
    #[error("z3 does not answer")]
    Silent,
    /// It says something else than it should.
    #[error("z3 said `{0}`")]
    Unexpected(String),
}

/// A running solver. Ends with its owner.
#[derive(Debug)]
pub struct Process {
    id: u32,
    end: End,
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
        let (id, end) = (process.id(), End(Arc::new(Mutex::new(process))));
        Ok(Process { id, end, input, output: BufReader::new(output) })
    }

    /// Hears whether it is there. Only once it has said something is the start behind it.
    pub(crate) fn greet(&mut self) -> Result<(), SolverError> {
        self.say("(echo \"ready\")\n")?;
        self.expect("ready")
    }

    /// By which it can be ended while somebody waits for its answer.
    pub(crate) fn end(&self) -> End {
        self.end.clone()
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Tells it something.
    pub fn say(&mut self, text: &str) -> Result<(), SolverError> {
        self.input.write_all(text.as_bytes())?;
        Ok(self.input.flush()?)
    }

    /// The next line that it says.
    pub fn hear(&mut self) -> Result<String, SolverError> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(SolverError::Unexpected("nothing more".to_string()));
        }
        Ok(line.trim_end().to_string())
    }

    /// Hears this very line.
    pub fn expect(&mut self, wanted: &str) -> Result<(), SolverError> {
        match self.hear()? {
            line if line == wanted => Ok(()),
            line => Err(SolverError::Unexpected(line)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end.now();
    }
}

/// The end of a solver.
#[derive(Clone, Debug)]
pub(crate) struct End(Arc<Mutex<Child>>);

impl End {
    /// Ends it, whatever it is at.
    pub(crate) fn now(&self) {
        if let Ok(mut process) = self.0.lock() {
            // It may be gone already, which is what we want.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
