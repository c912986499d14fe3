//! Processes of tests: none runs without a limit, and none depends on how the tests were started or on the load of the
//! machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// No process of a test may take longer, in seconds: far longer than any does on a busy machine.
const LIMIT: &str = "900";
/// So long a test waits for something to happen.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(20);
/// How many of the kernel's ticks a second has.
const TICKS: u64 = 100;

/// A command that is ended when its time is over, with the exit code 124.
pub fn limited(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--foreground", "--kill-after=10", LIMIT]).arg(program);
    command
}

/// The same for a command that is sent signals, and hears them even if the tests were started by `nohup` or in the
/// background. Signals for it are sent to the process that is started.
pub fn interruptible(program: impl AsRef<OsStr>) -> Command {
    let mut command = limited("env");
    command.arg("--default-signal=INT,HUP,TERM").arg(program);
    command
}

/// Sends a signal by its name.
///
/// # Panics
/// If there is no such process.
pub fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{process} has ended already");
}

/// Waits until all processes that descend from this one have run for so long together: how busy the machine is does
/// not matter.
///
/// # Panics
/// If that takes too long.
pub fn wait_until_busy(root: u32, time: Duration) {
    let wanted = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_mul(TICKS) / 1000;
    wait_until("they work", || {
        let ticks = descendants(root).into_iter().filter_map(stat).map(|stat| stat.ticks);
        ticks.sum::<u64>() >= wanted
    });
}

/// Waits until something is so.
///
/// # Panics
/// If that takes too long.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "waited too long until {what}");
        thread::sleep(LOOK);
    }
}

/// All processes that descend from this one.
pub fn descendants(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for process in processes {
        if let Some(stat) = stat(process) {
            children.entry(stat.parent).or_default().push(process);
        }
    }
    let (mut found, mut next) = (children.remove(&root).unwrap_or_default(), 0);
    while let Some(&process) = found.get(next) {
        found.extend(children.remove(&process).unwrap_or_default());
        next += 1;
    }
    found
}

/// Whether the process still does something.
pub fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|stat| !"ZX".contains(stat.state))
}

/// What the process is called by the kernel.
pub fn name(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim_end().to_string()
}

struct Stat {
    state: char,
    parent: u32,
    /// For how long it has run.
    ticks: u64,
}

fn stat(process: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may contain anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let state = fields.first()?.chars().next()?;
    Some(Stat { state, parent: u32::try_from(number(1)?).ok()?, ticks: number(11)? + number(12)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_descends_is_found_and_hears_signals() {
        let mut child = interruptible("sh").args(["-c", "while :; do :; done"]).spawn().expect("it runs");
        wait_until_busy(child.id(), Duration::from_millis(50));
        let found = descendants(child.id());
        let [shell] = found[..] else { panic!("{found:?}") };
        assert!(is_alive(shell) && name(shell) == "sh");
        send("INT", child.id());
        assert!(!child.wait().expect("it ends").success());
        wait_until("the shell has ended", || !is_alive(shell));
    }
}
