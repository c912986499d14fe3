//! Waiting for a program that is being recorded, and ending it when somebody wants that.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::processes::{descendants, is_alive, send};
use crate::stop::Presses;

/// How often to look whether somebody wants the program to end.
const TICK: Duration = Duration::from_millis(50);
/// A terminal tells the program of Ctrl-C itself. So long it has to end by that; not every program hears of it.
const PATIENCE: Duration = Duration::from_millis(500);
/// So long a program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// Who ended a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EndedBy {
    /// It came to its end.
    Itself,
    /// Ctrl-C.
    User,
    /// The time was over.
    Time(Duration),
}

/// Waits for the program, at most as long as it may run. Ctrl-C is meant for it alone.
pub(crate) fn wait(child: Child, limit: Option<Duration>) -> io::Result<(ExitStatus, EndedBy)> {
    let presses = Presses::of_program();
    wait_unless(child, limit, || presses.count())
}

/// Waits for the program, at most as long as it may run, and until somebody has pressed Ctrl-C so often.
pub(crate) fn wait_unless(
    child: Child,
    limit: Option<Duration>,
    presses: impl Fn() -> u32,
) -> io::Result<(ExitStatus, EndedBy)> {
    let mut ending =
        Ending { root: child.id(), ended_by: EndedBy::Itself, asked: None, known: BTreeSet::new() };
    let (sender, receiver) = mpsc::channel();
    let mut child = child;
    // Nobody is left to tell only if this function has returned.
    let waiter = move || drop(sender.send(child.wait()));
    thread::Builder::new().name("waits for the program".to_string()).spawn(waiter)?;
    let begin = Instant::now();
    let mut first_press = None;
    loop {
        match receiver.recv_timeout(TICK) {
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
                return Err(io::Error::other("nobody waits for the program"));
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

/// The end of a program and of all processes that it has started.
struct Ending {
    root: u32,
    ended_by: EndedBy,
    /// When they were asked to end.
    asked: Option<Instant>,
    /// All of them that were there then, or later.
    known: BTreeSet<u32>,
}

impl Ending {
    /// Asks the processes to end, once.
    fn ask(&mut self, by: EndedBy) {
        if self.asked.is_none() {
            (self.ended_by, self.asked) = (by, Some(Instant::now()));
            self.send(Signal::SIGTERM);
        }
    }

    /// Ends processes that were asked and have had their time, or that somebody is tired of.
    fn insist(&mut self, is_urgent: bool) {
        if self.asked.is_some_and(|asked| is_urgent || asked.elapsed() > GRACE) {
            self.send(Signal::SIGKILL);
        }
    }

    fn send(&mut self, signal: Signal) {
        self.known.insert(self.root);
        self.known.extend(descendants(self.root));
        self.known.iter().for_each(|&process| send(process, signal));
    }

    /// The program has ended; what it has started was asked to as well, and may still be about to.
    fn wait_for_others(&mut self) {
        let Some(asked) = self.asked else { return };
        self.known.remove(&self.root);
        while self.known.iter().any(|&process| is_alive(process)) {
            if asked.elapsed() > GRACE {
                self.known.iter().for_each(|&process| send(process, Signal::SIGKILL));
                return;
            }
            thread::sleep(TICK);
        }
    }
}
