//! A contradiction in words.

use foretell_trace::EventId;
use foretell_trace::format::text::op_text;

use crate::closure::{Contradiction, Why};
use crate::verdict::Refutation;
use crate::window::Window;

/// Why the race that the window is made for is impossible.
pub(crate) fn refutation(contradiction: &Contradiction, window: &Window<'_>) -> Refutation {
    let teller = Teller { window };
    Refutation {
        steps: match contradiction {
            Contradiction::Cycle(events) => teller.cycle(events),
            Contradiction::NoSource(read) => {
                vec![format!(
                    "{} cannot see what it saw: no write that could run before it is left",
                    teller.event(*read)
                )]
            }
            Contradiction::TooLate { event, before, why } if event == before => {
                vec![format!(
                    "{} would have to run, but it comes after the race{}",
                    teller.event(*event),
                    teller.reason(*why)
                )]
            }
            Contradiction::TooLate { event, before, why } => vec![format!(
                "{} would have to run before {}{}, but it comes after the race",
                teller.event(*event),
                teller.event(*before),
                teller.reason(*why)
            )],
            Contradiction::OutOfTime => Vec::new(),
            Contradiction::Sections(one, other) => vec![format!(
                "{} and {} both hold the lock at the race",
                teller.section(*one),
                teller.section(*other)
            )],
        },
    }
}

struct Teller<'w> {
    window: &'w Window<'w>,
}

impl Teller<'_> {
    fn cycle(&self, events: &[(u32, Why)]) -> Vec<String> {
        let next = events.iter().cycle().skip(1);
        let mut steps: Vec<String> = events
            .iter()
            .zip(next)
            .map(|((event, why), (after, _))| {
                format!("{} runs before {}{}", self.event(*event), self.event(*after), self.reason(*why))
            })
            .collect();
        steps.push("so each would have to run before itself".to_string());
        steps
    }

    fn event(&self, event: u32) -> String {
        let step = self.window.event(event);
        let names = self.window.index.trace.names();
        let number = EventId::from_index((self.window.begin + event) as usize).map_or(0, EventId::number);
        format!("event {number} ({}: {})", names.threads.name(step.thread), op_text(step.op, names))
    }

    fn section(&self, section: u32) -> String {
        let section = &self.window.sections[section as usize];
        match self.window.place.get(section.begin as usize) {
            Some(_) => format!("the section of {}", self.event(section.begin)),
            None => "a section that began before the window".to_string(),
        }
    }

    fn reason(&self, why: Why) -> String {
        match why {
            Why::Must => String::new(),
            Why::Seen => ", which must see what it writes".to_string(),
            Why::Between(read) => format!(", or {} would see it", self.event(read)),
            Why::Overwrites => ", which overwrites what it must see".to_string(),
            Why::AnySource => ", which cannot see anything earlier".to_string(),
            Why::Section(event) => format!(", because {} cannot come first", self.event(event)),
            Why::Endless => ", whose section is still open at the race".to_string(),
            Why::Notification => ", which wakes it".to_string(),
            Why::Free => ", which gives the memory back".to_string(),
            Why::Tried => " if the two are adjacent in this order".to_string(),
        }
    }
}
