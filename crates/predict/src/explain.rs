//! A contradiction in words.

use crate::certify::event_words;
use crate::closure::{Contradiction, Why};
use crate::verdict::Refutation;
use crate::window::Window;

/// Why the goal that the window is made for cannot be reached.
pub(crate) fn refutation(contradiction: &Contradiction, window: &Window<'_>) -> Refutation {
    let teller = Teller { window };
    Refutation {
        steps: match contradiction {
            Contradiction::Cycle(events) => teller.cycle(events),
            Contradiction::NoSource(read, because) => {
                vec![format!(
                    "{} cannot see what it saw: no write that could run before it is left{}",
                    teller.event(*read),
                    teller.purpose(*read, *because)
                )]
            }
            Contradiction::TooLate { event, before, .. } if event == before => {
                vec![format!(
                    "{} would have to run before {}, but it can only come after it",
                    teller.event(*event),
                    window.goal
                )]
            }
            Contradiction::TooLate { event, before, why } => vec![format!(
                "{} would have to run before {}{}; but it can only come after {}",
                teller.event(*event),
                teller.event(*before),
                teller.reason(&Edge { from: *event, to: *before, why: *why }),
                window.goal
            )],
            Contradiction::OutOfTime => Vec::new(),
            Contradiction::Sections(one, other) => vec![format!(
                "{} and {} both hold the lock at {}{}",
                teller.section(*one),
                teller.section(*other),
                window.goal,
                teller.spin_lock(*one)
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
        let edges: Vec<Edge> =
            events.iter().zip(next).map(|(&(from, why), &(to, _))| Edge { from, to, why }).collect();
        // What one thread does step by step is one step of the argument.
        let runs = edges.chunk_by(|one, other| self.is_own_order(one) && self.is_own_order(other));
        let whole = |run: &[Edge]| {
            let (first, last) = (run.first()?, run.last()?);
            Some(Edge { from: first.from, to: last.to, why: last.why })
        };
        let step = |edge: Edge| {
            format!("{} runs before {}{}", self.event(edge.from), self.event(edge.to), self.reason(&edge))
        };
        let mut steps: Vec<String> = runs.filter_map(whole).map(step).collect();
        steps.push("so each would have to run before itself".to_string());
        steps
    }

    /// Whether one thread does both in this order anyway.
    fn is_own_order(&self, edge: &Edge) -> bool {
        let thread = |event| self.window.event(event).thread;
        edge.why == Why::Must && thread(edge.from) == thread(edge.to)
    }

    fn event(&self, event: u32) -> String {
        event_words(self.window, event)
    }

    fn section(&self, section: u32) -> String {
        let section = &self.window.sections[section as usize];
        match self.window.place.get(section.acquire as usize) {
            Some(_) => format!("the critical section of {}", self.event(section.acquire)),
            None => "a critical section that began before the window".to_string(),
        }
    }

    /// Which variable serves as the lock, if it is made of one.
    fn spin_lock(&self, section: u32) -> String {
        let lock = self.window.sections[section as usize].lock;
        let word = self.window.locks[lock as usize].word;
        let name = word.map(|var| self.window.index.trace.names().vars.name(var));
        name.map(|name| format!(" ({name} is a lock made of an atomic variable)")).unwrap_or_default()
    }

    /// What it is good for that the read sees what it saw.
    fn purpose(&self, read: u32, because: Option<u32>) -> String {
        match because {
            None => String::new(),
            Some(event) if self.window.steered_by(read) == Some(event) => {
                format!("; what it sees decides whether {} happens", self.event(event))
            }
            Some(event) => format!("; it goes into what {} writes", self.event(event)),
        }
    }

    /// Why the first of two events runs before the second.
    fn reason(&self, edge: &Edge) -> String {
        let thread = |event| {
            let names = self.window.index.trace.names();
            names.threads.name(self.window.event(event).thread)
        };
        match edge.why {
            Why::Must if self.is_own_order(edge) => {
                format!(", because {} does them in this order", thread(edge.from))
            }
            Why::Must => ", as in every run".to_string(),
            Why::Seen(because) => {
                let purpose = self.purpose(edge.to, because);
                format!(", because the second must see what the first writes{purpose}")
            }
            Why::Between(read) => format!(", or else {} would see what it writes", self.event(read)),
            Why::Overwrites => ", because the second overwrites what the first must see".to_string(),
            Why::OverwritesAny => ", because the second overwrites all that the first may see".to_string(),
            Why::AnySource => ", because the second cannot see anything earlier".to_string(),
            Why::WindowSection(event) => {
                format!(
                    ", because only one of them can hold the lock, and {} cannot come first",
                    self.event(event)
                )
            }
            Why::Endless => {
                format!(", because {} still holds the lock at {}", thread(edge.to), self.window.goal)
            }
            Why::Goal => format!(", as {} asks for it", self.window.goal),
            Why::Notification => ", because the second wakes the first".to_string(),
            Why::Free => ", because the second gives the memory back".to_string(),
            Why::Tried => ", if the two accesses come in this order".to_string(),
        }
    }
}

/// The first of two events runs before the second.
struct Edge {
    from: u32,
    to: u32,
    why: Why,
}
