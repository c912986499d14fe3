//! The processes of a program, as the system lists them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use foretell_wire::settings;
use rustix::process::{Pid, Signal, kill_process};

/// All processes that descend from this one and that the system knows.
pub(super) fn descendants(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for process in all() {
        if let Some((_, parent)) = stat(process) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        found.extend(children.remove(&process).unwrap_or_default());
        next += 1;
    }
    found
}

/// Ends whatever a run has left behind: all processes that record into this folder, wherever they are in
/// the family. Says how many there were.
pub(crate) fn end_left(folder: &Path) -> usize {
    let left = of_run(folder).filter(|&process| is_alive(process));
    left.inspect(|&process| send(process, Signal::KILL)).count()
}

/// All processes that record into this folder.
pub(super) fn of_run(folder: &Path) -> impl Iterator<Item = u32> {
    let told = [settings::LOG.name.to_bytes(), b"=", folder.as_os_str().as_bytes()].concat();
    let is_of_run = move |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == told)
    };
    all().filter(is_of_run)
}

/// Whether the process still runs: zombies do not.
pub(super) fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// Sends a signal. A process that has ended meanwhile does not hear it, which is as well.
pub(super) fn send(process: u32, signal: Signal) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process(process, signal);
    }
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// State and parent of a process.
fn stat(process: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may contain anything.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_a_run_leaves_behind_is_ended() {
        let folder = std::env::temp_dir().join(format!("left-by-{}", id()));
        let start =
            |value: &Path| Command::new("sleep").arg("60").env(settings::LOG.text(), value).spawn().unwrap();
        let (mut left, mut other) = (start(&folder), start(&folder.join("other")));
        // A process that was just started may not show its environment yet.
        while is_alive(left.id()) {
            end_left(&folder);
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!left.wait().unwrap().success());
        assert!(is_alive(other.id()));
        send(other.id(), Signal::KILL);
        assert!(!other.wait().unwrap().success());
    }

    #[test]
    fn children_are_found_and_can_be_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(descendants(id()).contains(&child.id()));
        assert!(is_alive(child.id()));
        send(child.id(), Signal::KILL);
        assert!(!child.wait().unwrap().success());
        assert!(!is_alive(child.id()));
    }
}
