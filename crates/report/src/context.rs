//! What is around an access: who called, which locks are held, who started the thread, the line of the program.

use std::collections::HashMap;

use foretell_trace::{EventId, LockMode, Names};
use serde::{Deserialize, Serialize};

use crate::report::RacingAccess;
use crate::surroundings::{Call, Held, Start, Surroundings};

/// The location of what happens outside the program.
pub(crate) const NOWHERE: &str = "?";

/// A function that is being executed, and where in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// Where in the function: the access itself, or the call of the frame before.
    pub location: String,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeldLock {
    /// Which one.
    pub lock: String,
    /// Alone, or together with other readers.
    pub mode: HeldMode,
    /// Where it was taken.
    pub location: String,
    /// The functions that were being executed there, the innermost first. Empty if the trace shows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeldMode {
    /// Alone.
    Exclusive,
    /// Together with other readers.
    Shared,
}

impl From<LockMode> for HeldMode {
    fn from(mode: LockMode) -> HeldMode {
        match mode {
            LockMode::Exclusive => HeldMode::Exclusive,
            LockMode::Shared => HeldMode::Shared,
        }
    }
}

/// How a thread, or the memory of a variable, came to be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The number of the event that started or allocated it.
    pub event: u32,
    /// Who did that.
    pub thread: String,
    /// Where.
    pub location: String,
    /// The functions that were being executed there, the innermost first. Empty if the trace shows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

impl RacingAccess {
    /// Adds what is around the access.
    pub fn add_surroundings(&mut self, around: &Surroundings, names: &Names) {
        self.stack = stack(&self.location, &around.calls, names);
        self.function = self.stack.first().map(|frame| frame.function.clone());
        self.locks = Some(around.locks.iter().map(|held| HeldLock::new(held, names)).collect());
        self.thread_started = around.started.as_ref().map(|start| Origin::new(start, names));
        // Memory that was there before the program was allocated nowhere.
        let allocated = around.allocated.as_ref().map(|start| Origin::new(start, names));
        self.memory_allocated = allocated.filter(|origin| origin.location != NOWHERE);
    }
}

impl HeldLock {
    pub(crate) fn new(held: &Held, names: &Names) -> HeldLock {
        let location = names.loc_text(held.loc).into_owned();
        HeldLock {
            lock: names.locks.name(held.lock).to_string(),
            mode: held.mode.into(),
            stack: stack(&location, &held.calls, names),
            location,
        }
    }
}

impl Origin {
    fn new(start: &Start, names: &Names) -> Origin {
        let location = names.loc_text(start.loc).into_owned();
        Origin {
            event: start.event.number(),
            thread: names.threads.name(start.by).to_string(),
            stack: stack(&location, &start.calls, names),
            location,
        }
    }
}

/// The frames of a stack, the innermost first. A call is known with the place where it was made, which lies in the
/// function around it.
pub(crate) fn stack(location: &str, calls: &[Call], names: &Names) -> Vec<Frame> {
    let functions = calls.iter().rev().map(|call| names.labels.name(call.function).to_string());
    let places = calls.iter().rev().map(|call| names.loc_text(call.loc).into_owned());
    let places = std::iter::once(location.to_string()).chain(places);
    functions.zip(places).map(|(function, location)| Frame { function, location }).collect()
}

/// Adds what is around each access, as far as it was looked up.
pub fn add_surroundings<'a>(
    accesses: impl IntoIterator<Item = &'a mut RacingAccess>,
    around: &HashMap<EventId, Surroundings>,
    names: &Names,
) {
    for access in accesses {
        if let Some(around) = EventId::from_number(access.event).and_then(|event| around.get(&event)) {
            access.add_surroundings(around, names);
        }
    }
}

/// The innermost of these frames that is of the program itself and not of a library: that is where its author looks.
pub(crate) fn own_frame(stack: &[Frame]) -> Option<&Frame> {
    stack.iter().find(|frame| !is_of_library(&frame.location))
}

/// Whether a location is in what came with the system or the compiler; what has none is that, too.
pub(crate) fn is_of_library(location: &str) -> bool {
    const SYSTEM: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];
    // The libraries of Rust, as their own build names them, and what their compiler makes up.
    const RUST: [&str; 5] =
        ["/rustc/", "library/core/src/", "library/alloc/src/", "library/std/src/", "__rust_try"];
    const WITHIN: [&str; 2] = ["/rustlib/src/", "/.cargo/registry/src/"];
    location == NOWHERE
        || SYSTEM.iter().chain(&RUST).any(|folder| location.starts_with(folder))
        || WITHIN.iter().any(|folder| location.contains(folder))
}

/// Replaces locations of events within libraries by those of the calls that led there.
pub fn add_places<'a>(
    events: impl IntoIterator<Item = (u32, &'a mut String)>,
    around: &HashMap<EventId, Surroundings>,
    names: &Names,
) {
    for (event, location) in events.into_iter().filter(|(_, location)| is_of_library(location)) {
        let around = EventId::from_number(event).and_then(|event| around.get(&event));
        let stack = around.map(|around| stack(location, &around.calls, names));
        if let Some(frame) = stack.as_deref().and_then(own_frame) {
            location.clone_from(&frame.location);
        }
    }
}

/// A place in a source file: `bank.c:12:3` or `bank.c:12`; or in a program that is one file and has no need to name
/// it: `12:3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLocation<'a> {
    /// The file; empty if the program has only one.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1, where it is known.
    pub column: Option<u32>,
}

impl<'a> SourceLocation<'a> {
    /// The place that a location names, if it names one.
    pub fn parse(location: &'a str) -> Option<SourceLocation<'a>> {
        let (rest, last) = location.rsplit_once(':')?;
        let last: u32 = last.parse().ok()?;
        let with_column = rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match with_column {
            Some((file, line)) => {
                Some(SourceLocation { file, line, column: Some(last).filter(|&column| column > 0) })
            }
            None => match rest.parse() {
                Ok(line) => {
                    Some(SourceLocation { file: "", line, column: Some(last).filter(|&column| column > 0) })
                }
                Err(_) => Some(SourceLocation { file: rest, line: last, column: None }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_told_from_libraries() {
        let frame = |location: &str| Frame { function: "f".to_string(), location: location.to_string() };
        let stack =
            [frame("/usr/lib/gcc/12/../../include/thread:3:1"), frame("bank.cpp:7:5"), frame("main.cpp:1:1")];
        assert_eq!(own_frame(&stack), Some(&stack[1]));
        assert_eq!(own_frame(&stack[..1]), None);
        assert!(is_of_library("library/std/src/thread/lifecycle.rs:91:13"));
        assert!(!is_of_library("src/library.rs:91:13"));
    }

    #[test]
    fn places_are_told_from_other_locations() {
        let place = |file, line, column| Some(SourceLocation { file, line, column });
        assert_eq!(SourceLocation::parse("bank.c:12:3"), place("bank.c", 12, Some(3)));
        assert_eq!(SourceLocation::parse("src/bank.c:12"), place("src/bank.c", 12, None));
        assert_eq!(SourceLocation::parse("bank.c:12:0"), place("bank.c", 12, None));
        assert_eq!(SourceLocation::parse("12:3"), place("", 12, Some(3)));
        assert_eq!(SourceLocation::parse("12"), None);
        assert_eq!(SourceLocation::parse("main"), None);
    }
}
