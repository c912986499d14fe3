//! One pass over a trace for what shards cannot know.

use foretell_trace::{Event, Names};

use crate::ShardError;
use crate::apart::{Apart, ApartLocations};
use crate::border::State;
use crate::whole::Whole;

/// Collects what only the whole trace tells, event by event.
#[derive(Debug)]
pub struct Survey {
    events: u32,
    state: State,
    apart: Apart,
}

impl Survey {
    /// For shards with twice as many events as a step.
    pub fn new(step: usize) -> Survey {
        let step = u32::try_from(step.max(1)).unwrap_or(u32::MAX);
        Survey { events: 0, state: State::default(), apart: Apart::new(step) }
    }

    /// Takes the next event, which has been checked.
    pub fn event(&mut self, event: &Event) -> Result<(), ShardError> {
        self.apart.event(self.events, event);
        self.state.event(self.events, event);
        self.events = self.events.checked_add(1).ok_or(ShardError::TooLarge)?;
        Ok(())
    }

    /// There are no more events: what the whole tells, and the locations with accesses that may race and lie in no
    /// common shard.
    pub fn finish(self, names: &Names, cut_short: bool) -> (Whole, ApartLocations) {
        let mut whole = Whole {
            events: u64::from(self.events),
            threads: names.threads.len() as u64,
            has_branches: self.state.has_branches,
            cut_short,
            unexplained_reads: self.state.unexplained,
            titles: names.titles().map(|(thread, title)| (thread.to_string(), title.to_string())).collect(),
            ..Whole::default()
        };
        self.state.counting.enter(&mut whole, names);
        (whole, self.apart.finish(names))
    }
}
