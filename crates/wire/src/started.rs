//! Which programs a recorded one has started: lines of a file beside the logs.

/// What the file is called.
pub const FILE: &str = "programs";
/// No more bytes of a program's name, or of a command, are noted.
pub const LONGEST: usize = 200;

/// How a program was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// The process that has the log becomes it.
    Instead,
    /// Another process is it, which has no log by then.
    Beside,
    /// It was not: the attempt has failed.
    Failed,
}

impl How {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            How::Instead => "instead",
            How::Beside => "beside",
            How::Failed => "failed",
        }
    }
}

/// The programs of such a file that were not recorded; `logs` is how many logs a process has. A program that is not instrumented notes nothing, so
/// only the last one that a process was can be one.
pub fn unrecorded(text: &str, logs: impl Fn(u32) -> usize) -> Vec<String> {
    let mut processes: Vec<(u32, usize, Vec<&str>)> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(how), Some(process), Some(program)) = (words.next(), words.next(), words.next()) else { continue };
        let Ok(process) = process.parse::<u32>() else { continue };
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
    let is_lost = |(process, before, programs): &&(u32, usize, Vec<&str>)| logs(*process) < before + programs.len();
    found.extend(processes.iter().filter(is_lost).filter_map(|(.., programs)| Some((*programs.last()?).to_string())));
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_a_log_are_told() {
        let text = "instead 7 /bin/a\ninstead 8 /bin/b\nbeside 9 /bin/c\nbeside 10 /bin/d\nbeside 0 sh -c x y\n\
            instead 11 /no\nfailed 11 /no\ninstead 12 /bin/a\ninstead 12 /bin/e\nhalf a";
        // 7 and 10 became instrumented programs, 12 only at first.
        let logs = |process| match process {
            7 | 12 => 2,
            8 | 10 | 11 => 1,
            _ => 0,
        };
        assert_eq!(unrecorded(text, logs), ["/bin/b", "/bin/c", "/bin/e", "sh -c x y"]);
        assert!(unrecorded("", logs).is_empty());
    }
}
