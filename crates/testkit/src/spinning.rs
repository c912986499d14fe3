//! Tiny traces of threads that synchronise by what programs make of atomic variables: test-and-set locks, ticket locks,
//! sequence locks, barriers that count, readers of a published version (RCU), and all of these with mistakes.

use std::fmt::Display;
use std::fmt::Write as _;

use crate::random::Random;

/// Data variables.
const DATA: usize = 2;
/// Words that locks are made of.
const WORDS: usize = 2;

/// The trace of so many threads and about so many events that the seed stands for.
pub fn trace(seed: u64, threads: usize, events: usize) -> String {
    let mut world = World::new(seed, threads);
    if world.forks {
        (1..threads).for_each(|thread| world.event(0, format_args!("fork(t{thread})")));
    }
    while world.events < events {
        let thread = world.random.below(threads);
        world.step(thread);
    }
    world.text
}

/// What a word serves as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    /// 0 is free, 1 is taken.
    TestAndSet,
    /// The next ticket, and the one that is served.
    Ticket,
    /// Odd while a thread writes.
    Sequence,
    /// How many have come.
    Count,
    /// The published version, and how many are reading it.
    Publish,
}

/// What a thread is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Nothing,
    /// Waits with this ticket.
    Waits(usize, u32),
    /// Is inside the critical section of a word.
    Holds(usize),
}

struct World {
    random: Random,
    text: String,
    events: usize,
    schemes: [Scheme; WORDS],
    /// For each word, what it holds, and what its second half holds.
    words: [(u32, u32); WORDS],
    data: [u32; DATA],
    doing: Vec<Doing>,
    /// Once in so many steps a thread makes a mistake.
    mistakes: Option<usize>,
    forks: bool,
}

impl World {
    fn new(seed: u64, threads: usize) -> World {
        let mut random = Random::new(seed);
        use Scheme::{Count, Publish, Sequence, TestAndSet, Ticket};
        let schemes = [TestAndSet, TestAndSet, Ticket, Sequence, Count, Publish];
        World {
            schemes: [*random.pick(&schemes), *random.pick(&schemes)],
            mistakes: random.once_in(3).then_some(8),
            forks: random.once_in(2),
            random,
            text: String::new(),
            events: 0,
            words: [(0, 0); WORDS],
            data: [0; DATA],
            doing: vec![Doing::Nothing; threads],
        }
    }

    fn event(&mut self, thread: usize, op: impl Display) {
        self.events += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "t{thread}|{op}|{}", self.events);
    }

    /// Mostly a thread decides by what it has seen.
    fn decide(&mut self, thread: usize) {
        if !self.random.once_in(4) {
            self.event(thread, "branch");
        }
    }

    fn step(&mut self, thread: usize) {
        if self.mistakes.is_some_and(|times| self.random.once_in(times)) {
            return self.blunder(thread);
        }
        match self.doing[thread] {
            Doing::Nothing if self.random.once_in(3) => self.access(thread),
            Doing::Nothing => {
                let word = self.random.below(WORDS);
                self.enter(thread, word);
            }
            Doing::Waits(word, ticket) => self.wait(thread, word, ticket),
            Doing::Holds(_) if self.random.once_in(2) => self.access(thread),
            Doing::Holds(word) => self.leave(thread, word),
        }
    }

    fn access(&mut self, thread: usize) {
        let var = self.random.below(DATA);
        if self.random.once_in(2) {
            let value = self.data[var];
            self.event(thread, format_args!("r(d{var},{value})"));
            if self.random.once_in(2) {
                self.decide(thread);
            }
        } else {
            let value = u32::from(self.random.once_in(2));
            self.data[var] = value;
            self.event(thread, format_args!("w(d{var},{value})"));
        }
    }

    fn enter(&mut self, thread: usize, word: usize) {
        let (held, served) = self.words[word];
        match self.schemes[word] {
            Scheme::TestAndSet if held == 0 => self.take(thread, word, 1),
            Scheme::TestAndSet if self.random.once_in(2) => {
                self.event(thread, format_args!("rmw.acq(f{word},{held},{held})"));
                self.decide(thread);
            }
            Scheme::TestAndSet => self.look(thread, word),
            Scheme::Ticket => {
                self.event(thread, format_args!("rmw(f{word},{held},{})", held + 1));
                self.words[word] = (held + 1, served);
                self.doing[thread] = Doing::Waits(word, held);
            }
            Scheme::Sequence if held % 2 == 0 && self.random.once_in(2) => self.take(thread, word, held + 1),
            Scheme::Sequence => self.look(thread, word),
            Scheme::Count => {
                let next = (held + 1) % 3;
                self.event(thread, format_args!("rmw.acqrel(f{word},{held},{next})"));
                self.words[word].0 = next;
                self.decide(thread);
            }
            Scheme::Publish if self.random.once_in(2) => {
                self.count_readers(thread, word, served + 1);
                self.look(thread, word);
                self.doing[thread] = Doing::Holds(word);
            }
            Scheme::Publish if self.random.once_in(2) => {
                self.access(thread);
                self.store(thread, word, held + 1);
            }
            // Once nobody reads what was published before, it can be used again.
            Scheme::Publish => {
                self.event(thread, format_args!("aload.acq(o{word},{served})"));
                self.decide(thread);
                if served == 0 {
                    self.access(thread);
                }
            }
        }
    }

    fn count_readers(&mut self, thread: usize, word: usize, readers: u32) {
        let before = self.words[word].1;
        self.event(thread, format_args!("rmw.acqrel(o{word},{before},{readers})"));
        self.words[word].1 = readers;
    }

    fn take(&mut self, thread: usize, word: usize, value: u32) {
        let held = self.words[word].0;
        self.event(thread, format_args!("rmw.acq(f{word},{held},{value})"));
        self.words[word].0 = value;
        self.doing[thread] = Doing::Holds(word);
        self.decide(thread);
    }

    fn look(&mut self, thread: usize, word: usize) {
        let value = self.words[word].0;
        self.event(thread, format_args!("aload.acq(f{word},{value})"));
        self.decide(thread);
    }

    fn wait(&mut self, thread: usize, word: usize, ticket: u32) {
        let served = self.words[word].1;
        self.event(thread, format_args!("aload.acq(o{word},{served})"));
        self.decide(thread);
        if served == ticket {
            self.doing[thread] = Doing::Holds(word);
        }
    }

    fn leave(&mut self, thread: usize, word: usize) {
        self.doing[thread] = Doing::Nothing;
        let (held, served) = self.words[word];
        match self.schemes[word] {
            Scheme::TestAndSet if self.random.once_in(3) => {
                self.event(thread, format_args!("rmw.rel(f{word},{held},0)"));
                self.words[word].0 = 0;
            }
            Scheme::TestAndSet | Scheme::Count => self.store(thread, word, 0),
            Scheme::Sequence => self.store(thread, word, held + 1),
            Scheme::Publish => self.count_readers(thread, word, served - 1),
            Scheme::Ticket => {
                self.event(thread, format_args!("astore.rel(o{word},{})", served + 1));
                self.words[word].1 = served + 1;
            }
        }
    }

    fn store(&mut self, thread: usize, word: usize, value: u32) {
        self.event(thread, format_args!("astore.rel(f{word},{value})"));
        self.words[word].0 = value;
    }

    /// An unprotected write to the word.
    fn blunder(&mut self, thread: usize) {
        let word = self.random.below(WORDS);
        let value = u32::from(self.random.once_in(3));
        self.store(thread, word, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_traces_are_well_formed() {
        for seed in 0..500 {
            let trace = crate::trace(&trace(seed, 2 + usize::try_from(seed % 3).expect("small"), 16));
            assert!(trace.events().len() >= 16);
            assert!(trace.events().iter().all(|event| !event.unexplained));
        }
    }
}
