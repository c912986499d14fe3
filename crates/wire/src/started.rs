//! What ran beside the recorded threads of a program: lines of a file beside the logs.

/// What the file is called.
pub const FILE: &str = "beside";
/// No more bytes of a program's name, or of a command, are noted.
pub const LONGEST: usize = 200;

/// How a program or a thread was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// The process that has the log becomes it.
    Instead,
    /// Another process is it, which has no log by then.
    Beside,
    /// It was not: the attempt has failed.
    Failed,
    /// It is a thread of a recorded process, and is not recorded.
    Thread,
}

impl How {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            How::Instead => "instead",
            How::Beside => "beside",
            How::Failed => "failed",
            How::Thread => "thread",
        }
    }
}

/// What was not recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unrecorded {
    /// Programs, each once.
    pub programs: Vec<String>,
    /// How many threads of recorded processes.
    pub threads: u64,
}

/// What such a file tells; `logs` is how many logs a process has. A program that is not instrumented notes nothing,
/// so only the last one that a process was can be one.
pub fn unrecorded(text: &str, logs: impl Fn(u32) -> usize) -> Unrecorded {
    let mut processes: Vec<(u32, usize, Vec<&str>)> = Vec::new();
    let (mut found, mut threads) = (Vec::new(), 0);
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(how), Some(process), Some(program)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Ok(process) = process.parse::<u32>() else { continue };
        if how == How::Thread.word() {
            threads += 1;
            continue;
        }
        if process == 0 {
            // The C library has started it, and does not tell as which process: it is a shell.
            found.push(program.to_string());
            continue;
        }
        let at = processes.iter().position(|known| known.0 == process).unwrap_or_else(|| {
            processes.push((process, usize::from(how == How::Instead.word()), Vec::new()));
            processes.len() - 1
        });
        let programs = &mut processes[at].2;
        if how == How::Failed.word() {
            programs.pop();
        } else {
            programs.push(program);
        }
    }
    let is_lost =
        |(process, before, programs): &&(u32, usize, Vec<&str>)| logs(*process) < before + programs.len();
    found.extend(
        processes.iter().filter(is_lost).filter_map(|(.., programs)| Some((*programs.last()?).to_string())),
    );
    found.sort();
    found.dedup();
    Unrecorded { programs: found, threads }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_a_log_are_told() {
        let text = "instead 7 /bin/a\ninstead 8 /bin/b\nbeside 9 /bin/c\nbeside 10 /bin/d\nbeside 0 sh -c x y\n\
            instead 11 /no\nfailed 11 /no\ninstead 12 /bin/a\ninstead 12 /bin/e\nthread 13 x\nhalf a";
        // 7 and 10 became instrumented programs, 12 only at first.
        let logs = |process| match process {
            7 | 12 => 2,
            8 | 10 | 11 => 1,
            _ => 0,
        };
        let found = unrecorded(text, logs);
        assert_eq!(found.programs, ["/bin/b", "/bin/c", "/bin/e", "sh -c x y"]);
        assert_eq!(found.threads, 1);
        assert_eq!(unrecorded("", logs), Unrecorded::default());
    }
}
