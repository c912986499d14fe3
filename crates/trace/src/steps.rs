//! How far threads have come: how many steps each had made, as its recorder counts them, at each event of a trace.
//!
//! A recorder may know of more than its trace tells: of accesses to memory that only one thread touches, say. Who wants
//! to lead the program itself along an order of events has to count as the recorder does.

use crate::event::Event;

/// For each event, how many steps its thread has made since its last event. Most have made few, and those take a byte.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// As bytes; those that take more are [`MANY`], and stand in `many`.
    few: Vec<u8>,
    many: Vec<u64>,
}

/// Stands for a number that takes more than a byte.
const MANY: u8 = u8::MAX;

impl Steps {
    /// One event more, with this many steps since the last event of its thread. The event itself may be the last of
    /// them.
    pub fn push(&mut self, since: u64) {
        match u8::try_from(since) {
            Ok(few) if few != MANY => self.few.push(few),
            _ => {
                self.few.push(MANY);
                self.many.push(since);
            }
        }
    }

    /// Of how many events is known how far their threads have come.
    pub fn len(&self) -> usize {
        self.few.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.few.is_empty()
    }

    /// For each event, how many steps its thread has made since its last event.
    pub fn since(&self) -> impl Iterator<Item = u64> {
        let mut many = self.many.iter();
        self.few.iter().map(move |&few| match few {
            MANY => many.next().copied().unwrap_or(0),
            few => few.into(),
        })
    }

    /// For each of these events, which must be those that this is about, how many steps its thread has made in all.
    pub fn made(&self, events: &[Event]) -> Vec<u64> {
        let mut threads: Vec<u64> = Vec::new();
        let count = |(event, since): (&Event, u64)| {
            let index = event.thread.index();
            if threads.len() <= index {
                threads.resize(index + 1, 0);
            }
            let made = &mut threads[index];
            *made = made.saturating_add(since);
            *made
        };
        events.iter().zip(self.since()).map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::text::TextReader;
    use crate::source::read_all;

    #[test]
    fn steps_are_counted_for_each_thread() {
        let text = "A|w(x)|1\nB|w(x)|2\nA|r(x)|3\nA|branch|4\nB|w(x)|5\n";
        let (events, _) = read_all(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
        let mut steps = Steps::default();
        [3, 255, 1, 0, 1000].into_iter().for_each(|since| steps.push(since));
        assert_eq!(steps.since().collect::<Vec<_>>(), [3, 255, 1, 0, 1000]);
        assert_eq!(steps.made(&events), [3, 255, 4, 4, 1255]);
    }
}
