//! What a closure has found, in its order, with the axiom from which each follows.
//!
//! Nothing of this is kept unless a certificate is wanted.

use rustc_hash::FxHashMap;

use super::axiom::{Atom, Axiom, Exclusion, Literal, excludes, sources};
use crate::closure::{Closure, ENTRY, Why};
use crate::index::NONE;

/// The number of a fact.
pub(crate) type FactId = u32;

/// All that a closure has found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derivation {
    pub(crate) facts: Vec<Fact>,
    /// The fact that says so.
    known: FxHashMap<Literal, FactId>,
    /// For each edge of the closure, the fact that it is.
    pub(crate) of_edge: Vec<FactId>,
    /// How it ended, if that is a contradiction.
    pub(crate) clash: Option<Clash>,
}

/// A literal that follows from an axiom and earlier facts.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) gives: Literal,
    pub(crate) axiom: Axiom,
}

/// A contradiction.
#[derive(Clone, Debug)]
pub(crate) enum Clash {
    /// These two are in this order, and the other way round.
    Cycle(u32, u32),
    /// The event runs, and cannot.
    TooLate(u32),
    /// No literal of the axiom is left.
    Broken(Axiom),
}

impl Derivation {
    /// The fact that says so, if it is one of the first `until`.
    pub(crate) fn known(&self, literal: Literal, until: FactId) -> Option<FactId> {
        self.known.get(&literal).copied().filter(|&fact| fact < until)
    }

    /// How many facts there are.
    pub(crate) fn len(&self) -> FactId {
        // There are fewer facts than memory has room for.
        u32::try_from(self.facts.len()).unwrap_or(NONE)
    }

    fn add(&mut self, gives: Literal, axiom: Axiom) {
        let fact = self.len();
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(gives) {
            entry.insert(fact);
            self.facts.push(Fact { gives, axiom });
        }
    }
}

/// Why a read is pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PinCause {
    /// This event runs.
    Runs(u32),
    /// An event of the goal comes next.
    Goal,
    /// Another read sees what depends on it.
    Seen(u32),
}

impl Closure<'_> {
    /// From here on keeps what is found.
    pub(crate) fn log_derivation(&mut self) {
        self.derivation.get_or_insert_default();
    }

    /// What was found, if it was kept.
    pub(crate) fn derivation(&self) -> Option<&Derivation> {
        self.derivation.as_deref()
    }

    /// Takes note of a fact.
    pub(crate) fn log(&mut self, gives: impl Into<Literal>, axiom: impl FnOnce() -> Axiom) {
        if let Some(derivation) = &mut self.derivation {
            derivation.add(gives.into(), axiom());
        }
    }

    pub(crate) fn log_clash(&mut self, clash: impl FnOnce() -> Clash) {
        if let Some(derivation) = &mut self.derivation {
            derivation.clash.get_or_insert_with(clash);
        }
    }

    /// One event must come before another, for this reason.
    pub(crate) fn log_order(&mut self, from: u32, to: u32, why: Why) {
        if self.derivation.is_none() || (self.runs(from) && self.runs(to) && self.is_before(from, to)) {
            return;
        }
        let axiom = match why {
            Why::Must => Axiom::Need(from, to),
            Why::Seen(_) => Axiom::Sees { read: to, write: from },
            Why::Between(read) => Axiom::Between { read, write: to, other: from },
            Why::Overwrites => {
                let write = self.source(from).unwrap_or(ENTRY);
                Axiom::Between { read: from, write, other: to }
            }
            Why::AnySource => self.choice(to, &[]),
            Why::OverwritesAny => {
                Axiom::Choice { read: from, exclusions: self.exclusions(from, &[to]).into() }
            }
            Why::WindowSection(_) | Why::Endless => {
                let Some(number) = self.window.section_ending(from) else { return };
                Axiom::Exclusion(self.window.sections[number as usize].acquire, to)
            }
            Why::Notification => {
                let place = self.window.place[from as usize] + 1;
                Axiom::Notified(self.window.at(self.window.thread[from as usize], place))
            }
            Why::Free => Axiom::Free { access: from, free: to },
            // What a certificate has no axiom for leaves a gap, and there will be none.
            Why::Goal | Why::Tried => return,
        };
        self.log(Literal::before(from, to), || axiom);
        if !self.runs(from) {
            self.log(Atom::Runs(from), || Axiom::Prefix(from, to));
        }
    }

    /// The edge that was just added is this fact.
    pub(crate) fn log_edge(&mut self, from: u32, to: u32) {
        if let Some(derivation) = &mut self.derivation {
            let fact = derivation.known(Literal::before(from, to), NONE);
            derivation.of_edge.push(fact.unwrap_or(NONE));
        }
    }

    pub(crate) fn log_pin(&mut self, read: u32, cause: PinCause) {
        if self.derivation.is_some() {
            let axiom = match cause {
                PinCause::Runs(event) => Axiom::Pin { event, read },
                PinCause::Goal => Axiom::Pinned(read),
                PinCause::Seen(by) => {
                    Axiom::Concrete { read: by, write: self.source(by).unwrap_or(ENTRY), other: read }
                }
            };
            self.log(Atom::Consistent(read), || axiom);
        }
    }

    pub(crate) fn log_source(&mut self, read: u32, source: u32) {
        if self.derivation.is_some() {
            let axiom = self.choice(read, &[source]);
            self.log(Atom::Sees(read, source), || axiom);
        }
    }

    /// That the read sees one of the writes that it may see, as far as is known, or one of these.
    pub(crate) fn choice(&self, read: u32, kept: &[u32]) -> Axiom {
        let last: Vec<u32> = self.last_writes_before(read).collect();
        let mut exclusions = self.exclusions(read, &last);
        exclusions.retain(|&exclusion| !kept.iter().any(|&source| excludes(self.window, exclusion, source)));
        Axiom::Choice { read, exclusions: exclusions.into() }
    }

    /// What the read does not see, given that these writes come before it.
    fn exclusions(&self, read: u32, last: &[u32]) -> Vec<Exclusion> {
        let window = self.window;
        let all = sources(window, read);
        let mut exclusions = Vec::new();
        let mut threads: Vec<u32> = all
            .iter()
            .filter(|&&source| source != ENTRY)
            .map(|&source| window.thread[source as usize])
            .collect();
        threads.sort_unstable();
        threads.dedup();
        for thread in threads {
            exclusions.extend(self.overwritten(thread, last));
            exclusions.extend(self.later(thread, read));
        }
        exclusions.extend(last.first().map(|&other| Exclusion::NotInitial(other)));
        // One that excludes nothing, or nothing more, says nothing.
        let mut left = all;
        exclusions.retain(|&exclusion| {
            let count = left.len();
            left.retain(|&source| !excludes(window, exclusion, source));
            left.len() < count
        });
        exclusions
    }

    /// Up to which event of the thread everything is overwritten by one of these writes.
    fn overwritten(&self, thread: u32, last: &[u32]) -> Option<Exclusion> {
        let window = self.window;
        let count = |other: u32| match window.thread[other as usize] == thread {
            true => (window.place[other as usize] + 1, false),
            false => (self.known(other)[thread as usize], true),
        };
        let other = last.iter().copied().max_by_key(|&other| count(other))?;
        let until = count(other).0.checked_sub(1)?;
        Some(Exclusion::Overwritten(window.at(thread, until), other))
    }

    /// From which event of the thread on everything comes after the read, or does not run.
    fn later(&self, thread: u32, read: u32) -> Option<Exclusion> {
        let window = self.window;
        if window.thread[read as usize] == thread {
            return Some(Exclusion::Later(read));
        }
        let events = &window.threads[thread as usize];
        let running = self.running[thread as usize] as usize;
        let is_earlier = |&event: &u32| !self.runs(read) || !self.is_before(read, event);
        let first = events[..running].partition_point(is_earlier);
        match events.get(first).filter(|_| first < running) {
            Some(&event) => Some(Exclusion::Later(event)),
            None => events.get(window.limit[thread as usize] as usize).map(|&event| Exclusion::Absent(event)),
        }
    }
}
