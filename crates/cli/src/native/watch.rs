//! Waits for a recorded program, and terminates it on request.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::folder::recorders;
use super::processes::{descendants, is_alive, of_run, send};
use crate::output::note;
use crate::stop::Presses;

/// How often to check whether the program is to be terminated.
const TICK: Duration = Duration::from_millis(50);
/// A terminal tells the program of Ctrl-C itself. So long it has to end by that; not every program hears of it.
const PATIENCE: Duration = Duration::from_millis(500);
/// So long a program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// Who ended a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EndedBy {
    /// It came to its end.
    Itself,
    /// Ctrl-C, or another signal that asks us to end.
    User,
    /// The time was over.
    Time(Duration),
}

/// Waits for the program, at most as long as it may run. Ctrl-C is meant for it alone.
pub(crate) fn wait(
    child: Child,
    limit: Option<Duration>,
    folder: &Path,
) -> io::Result<(ExitStatus, EndedBy)> {
    let presses = Presses::of_program();
    wait_unless(child, limit, folder, || presses.count())
}

/// Waits for the program, at most as long as it may run, and until Ctrl-C was pressed so often. A program that goes on
/// in the background after its first process has ended, as daemons do, runs for as long as one of its processes records
/// into the folder.
pub(crate) fn wait_unless(
    child: Child,
    limit: Option<Duration>,
    folder: &Path,
    presses: impl Fn() -> u32,
) -> io::Result<(ExitStatus, EndedBy)> {
    let mut ending = Ending {
        root: Some(child.id()),
        folder,
        ended_by: EndedBy::Itself,
        asked: None,
        known: BTreeSet::new(),
    };
    let (sender, receiver) = mpsc::channel();
    let mut child = child;
    // The receiver is gone only if this function has returned.
    let waiter = move || drop(sender.send(child.wait()));
    thread::Builder::new().name("waits for the program".to_string()).spawn(waiter)?;
    let begin = Instant::now();
    let mut first_press = None;
    let mut background = Background::new(folder);
    loop {
        match background.wait(|| receiver.recv_timeout(TICK)) {
            Ok(_) if ending.may_wait() && background.goes_on() => ending.root = None,
            Ok(status) => {
                let status = status?;
                ending.wait_for_others();
                if !status.success() {
                    // A press of Ctrl-C that has ended the program may not have come to us yet.
                    thread::sleep(TICK);
                }
                return Ok((status, if presses() > 0 { EndedBy::User } else { ending.ended_by }));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the program has no waiter"));
            }
        }
        if presses() > 0 {
            let pressed: &Instant = first_press.get_or_insert_with(Instant::now);
            if pressed.elapsed() > PATIENCE {
                ending.ask(EndedBy::User);
            }
        }
        if let Some(limit) = limit.filter(|&limit| begin.elapsed() >= limit) {
            ending.ask(EndedBy::Time(limit));
        }
        ending.insist(presses() > 1);
    }
}

/// What the first process of a program leaves running.
struct Background<'a> {
    folder: &'a Path,
    /// How the first process has ended, and when.
    ended: Option<(ExitStatus, Instant)>,
    /// The user knows what is waited for.
    is_told: bool,
}

impl Background<'_> {
    fn new(folder: &Path) -> Background<'_> {
        Background { folder, ended: None, is_told: false }
    }

    /// Waits a while for the first process; if it has ended, for the others.
    fn wait(
        &mut self,
        first: impl FnOnce() -> Result<io::Result<ExitStatus>, RecvTimeoutError>,
    ) -> Result<io::Result<ExitStatus>, RecvTimeoutError> {
        if let Some((status, _)) = self.ended {
            thread::sleep(TICK);
            return Ok(Ok(status));
        }
        let outcome = first()?;
        self.ended = outcome.as_ref().ok().map(|&status| (status, Instant::now()));
        Ok(outcome)
    }

    /// Whether others go on. If that takes a while, the user is informed.
    fn goes_on(&mut self) -> bool {
        let processes = recorders(self.folder).len();
        let is_long = self.ended.is_some_and(|(_, ended)| ended.elapsed() > GRACE);
        if processes > 0 && is_long && !std::mem::replace(&mut self.is_told, true) {
            note(&format!(
                "the program runs on in the background, in {processes} recorded processes; Ctrl-C and --stop-after \
                 terminate them"
            ));
        }
        processes > 0
    }
}

/// The end of a program and of all processes that it has started.
struct Ending<'a> {
    /// The first process, until it has ended: then its number may be another's.
    root: Option<u32>,
    /// Where they record.
    folder: &'a Path,
    ended_by: EndedBy,
    /// When they were asked to end.
    asked: Option<Instant>,
    /// All of them that were there then, or later.
    known: BTreeSet<u32>,
}

impl Ending<'_> {
    /// Asks the processes to end, once.
    fn ask(&mut self, by: EndedBy) {
        if self.asked.is_none() {
            (self.ended_by, self.asked) = (by, Some(Instant::now()));
            self.send(Signal::TERM);
        }
    }

    /// Ends processes that were asked and have had their time, or after repeated requests.
    fn insist(&mut self, is_urgent: bool) {
        if self.asked.is_some_and(|asked| is_urgent || asked.elapsed() > GRACE) {
            self.send(Signal::KILL);
        }
    }

    fn send(&mut self, signal: Signal) {
        if let Some(root) = self.root {
            self.known.insert(root);
            self.known.extend(descendants(root));
        }
        self.known.extend(of_run(self.folder));
        self.known.iter().for_each(|&process| send(process, signal));
    }

    /// Whether processes that are left may still come to their end.
    fn may_wait(&self) -> bool {
        self.asked.is_none_or(|asked| asked.elapsed() < 2 * GRACE)
    }

    /// The program has ended; what it has started was asked to as well, and may still be about to.
    fn wait_for_others(&mut self) {
        let Some(asked) = self.asked else { return };
        self.known.retain(|&process| Some(process) != self.root);
        while self.known.iter().any(|&process| is_alive(process)) {
            if asked.elapsed() > GRACE {
                self.known.iter().for_each(|&process| send(process, Signal::KILL));
                return;
            }
            thread::sleep(TICK);
        }
    }
}
