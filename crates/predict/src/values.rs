//! What the reads of a schedule see, and what is computed from that.
//!
//! A schedule fixes which write each read sees, and with that all values. So nothing has to be guessed: it is run, and
//! looked at whether every demand holds. If one does not, that is due to a few reads and the writes that they saw;
//! these are what a search can learn from.

mod arithmetic;
mod pinned;
mod stake;

use foretell_trace::dependence::Reads;
use foretell_trace::values::{Demand, Term, TermId, Values};
use foretell_trace::{EventId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::arithmetic::Datum;
use self::arithmetic::{binary, unary};
pub(crate) use self::pinned::pinned;
pub(crate) use self::stake::blame;
use crate::closure::ENTRY;
use crate::index::{MustSee, NONE};
use crate::window::Window;

/// A schedule of a window with its values. Events are named by their place in the window.
#[derive(Clone, Debug)]
pub(crate) struct Computed<'w> {
    window: &'w Window<'w>,
    values: &'w Values,
    /// For each variable, its last writer.
    writer: Vec<u32>,
    /// What the reads saw: the write, and what that had written.
    seen: FxHashMap<u32, (u32, ComputedContent)>,
    /// What the writes have written.
    written: FxHashMap<u32, ComputedContent>,
    /// The terms that have been looked at.
    known: FxHashMap<TermId, Option<Datum>>,
    /// For each thread, whether one of its reads saw something else than it saw in the trace.
    deviated: Vec<bool>,
}

/// What memory holds, or a read has seen there.
#[derive(Clone, Copy, Debug)]
struct ComputedContent {
    /// None if unknown.
    value: Option<Datum>,
    /// It is what it was in the trace, also where that does not show it.
    as_observed: bool,
}

/// Whether all demands hold in a schedule of the window, and those of the events that come next after it. In a window
/// that is not about values, they do.
pub(crate) fn demands_hold(window: &Window<'_>, schedule: &[u32]) -> bool {
    let Some(values) = window.values() else { return true };
    let mut computed = Computed::new(window, values);
    schedule.iter().all(|&event| computed.step(event).is_none())
        && window.next.iter().all(|&event| computed.keeps_from_coming_next(event).is_none())
}

/// A read, and the write that it sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Sight {
    pub(crate) read: u32,
    pub(crate) write: u32,
}

impl<'w> Computed<'w> {
    pub(crate) fn new(window: &'w Window<'w>, values: &'w Values) -> Computed<'w> {
        Computed {
            window,
            values,
            writer: vec![ENTRY; window.vars.len()],
            seen: FxHashMap::default(),
            written: FxHashMap::default(),
            known: FxHashMap::default(),
            deviated: vec![false; window.threads.len()],
        }
    }

    /// The write that the read has seen.
    pub(crate) fn source(&self, read: u32) -> Option<u32> {
        self.seen.get(&read).map(|seen| seen.0)
    }

    /// Runs the event; gives the first of its demands that does not hold.
    pub(crate) fn step(&mut self, event: u32) -> Option<Demand> {
        let Some(access) = self.window.op(event).access() else { return self.broken_demand(event, false) };
        if access.kind.reads() {
            self.read(event);
        }
        let broken = self.broken_demand(event, false);
        if self.window.changes_memory(event) {
            let held = self.held_after(event);
            self.written.insert(event, held);
            self.writer[self.window.var[event as usize] as usize] = event;
        }
        broken
    }

    /// The first demand that keeps the event from coming next: what it would see itself does not matter.
    pub(crate) fn keeps_from_coming_next(&mut self, event: u32) -> Option<Demand> {
        self.broken_demand(event, true)
    }

    fn read(&mut self, event: u32) {
        let writer = self.writer[self.window.var[event as usize] as usize];
        let seen = self.sees(event, writer);
        self.seen.insert(event, (writer, seen));
        if !seen.as_observed {
            self.deviated[self.window.thread[event as usize] as usize] = true;
        }
    }

    /// What the read sees of this write.
    fn sees(&self, event: u32, writer: u32) -> ComputedContent {
        let (index, at) = (self.window.index, self.window.begin + event);
        let shown = self.observed(self.window.op(event).value_read());
        let MustSee::Write(source) = index.seen(at, true) else {
            // An external write came just before, whatever was there.
            return ComputedContent { value: shown, as_observed: true };
        };
        let unknown = ComputedContent { value: None, as_observed: false };
        let (held, same_write) = match writer {
            ENTRY => {
                let held = ComputedContent { value: self.entry_value(event), as_observed: true };
                (held, source == NONE || source < self.window.begin)
            }
            writer => {
                let held = self.written.get(&writer).copied().unwrap_or(unknown);
                (held, source == self.window.begin + writer)
            }
        };
        let unchanged = same_write && held.as_observed;
        let value = held.value.or(shown.filter(|_| unchanged));
        ComputedContent { value, as_observed: if shown.is_some() { value == shown } else { unchanged } }
    }

    /// What the variable of the event holds when the window begins.
    fn entry_value(&self, event: u32) -> Option<Datum> {
        let access = self.window.op(event).access()?;
        self.observed(self.window.index.content(access.var, self.window.begin).value)
    }

    fn observed(&self, value: Option<Value>) -> Option<Datum> {
        datum(self.window, value)
    }

    /// What the variable of the event holds after it.
    fn held_after(&mut self, event: u32) -> ComputedContent {
        let shown = self.observed(self.window.index.value_after(self.window.begin + event));
        let writes = self.window.op(event).access().is_some_and(|access| access.kind.writes());
        if !writes {
            // It stands for a write from outside.
            return ComputedContent { value: shown, as_observed: true };
        }
        let deviated = self.deviated[self.window.thread[event as usize] as usize];
        let value = match self.values.written(self.id(event)) {
            Some(term) => self.value(term),
            None => shown.filter(|_| !deviated),
        };
        ComputedContent { value, as_observed: if shown.is_some() { value == shown } else { !deviated } }
    }

    fn id(&self, event: u32) -> EventId {
        id(self.window, event)
    }

    fn broken_demand(&mut self, event: u32, is_next: bool) -> Option<Demand> {
        let values = self.values;
        let id = self.id(event);
        let demands = values.demands(id).iter();
        demands.copied().find(|demand| {
            !(is_next && self.is_made_of(demand.term, event))
                && self.value(demand.term) != Some(demand.value.into())
        })
    }

    /// Whether what the event reads is in the term.
    fn is_made_of(&self, term: TermId, event: u32) -> bool {
        let id = self.id(event);
        let mut is_in = false;
        self.for_each_read(term, |read| is_in |= read == id, |_| ());
        is_in
    }

    /// The reads that the term is made of, each once, and the sets of reads.
    fn for_each_read(&self, term: TermId, mut read: impl FnMut(EventId), mut set: impl FnMut(Reads)) {
        let (mut seen, mut open) = (FxHashSet::default(), vec![term]);
        while let Some(term) = open.pop() {
            if seen.insert(term) {
                match self.values.term(term) {
                    Term::Read(event) => read(event),
                    Term::Frozen { reads, .. } => set(reads),
                    other => open.extend(other.parts()),
                }
            }
        }
    }

    /// The value of a term all of whose reads have run.
    fn value(&mut self, term: TermId) -> Option<Datum> {
        // Values can travel far, so this is not for recursion.
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            let unknown = self.values.term(next).parts().find(|part| !self.known.contains_key(part));
            match unknown {
                Some(part) if !self.known.contains_key(&next) => open.push(part),
                _ => {
                    open.pop();
                    if !self.known.contains_key(&next) {
                        let value = self.computed(self.values.term(next));
                        self.known.insert(next, value);
                    }
                }
            }
        }
        self.known.get(&term).copied().flatten()
    }

    /// The value of a term whose parts are known.
    fn computed(&self, term: Term) -> Option<Datum> {
        let known = |part: TermId| self.known.get(&part).copied().flatten();
        match term {
            Term::Number(number) => Some(Datum::Number(number)),
            Term::Name(name) => Some(Datum::Name(name)),
            Term::Read(event) => self.value_read(event),
            Term::Frozen { value, reads } => {
                let deviated =
                    self.reads_of(reads).is_none_or(|reads| reads.iter().any(|&read| self.deviates(read)));
                (!deviated).then_some(Datum::Number(value))
            }
            Term::Unary { op, width, of } => unary(op, width, known(of)?),
            Term::Binary { op, width, left, right } => binary(op, width, known(left)?, known(right)?),
            Term::Choice { condition, then, otherwise } => {
                known(if known(condition)?.is_zero() { otherwise } else { then })
            }
        }
    }

    /// What the event of the trace has read.
    fn value_read(&self, event: EventId) -> Option<Datum> {
        match self.local(event) {
            Some(read) => self.seen.get(&read).and_then(|seen| seen.1.value),
            None => self.observed(self.window.index.trace.event(event).op.value_read()),
        }
    }

    /// The event by its place in the window, if it is not before that.
    fn local(&self, event: EventId) -> Option<u32> {
        (event.number() - 1).checked_sub(self.window.begin)
    }

    /// Whether the read sees something else than it saw.
    fn deviates(&self, read: EventId) -> bool {
        let local = self.local(read);
        local.is_some_and(|read| self.seen.get(&read).is_none_or(|seen| !seen.1.as_observed))
    }

    /// The reads of a set; none if unknown.
    fn reads_of(&self, reads: Reads) -> Option<Vec<EventId>> {
        self.window.index.trace.dependence()?.reads(reads)
    }

    /// The sights because of which the term of a demand of this event has the value that it has: what its reads see,
    /// what the writers of that have seen, and so on. Sorted.
    pub(crate) fn reasons(&self, demand: Demand) -> Vec<Sight> {
        let mut reasons = Reasons { computed: self, sights: FxHashSet::default(), open: Vec::new() };
        let event = demand.event.number() - 1 - self.window.begin;
        reasons.add_term(demand.term, event);
        reasons.finish()
    }
}

/// What a value is due to.
struct Reasons<'c, 'w> {
    computed: &'c Computed<'w>,
    sights: FxHashSet<Sight>,
    /// Writes whose values are to be looked at.
    open: Vec<u32>,
}

impl Reasons<'_, '_> {
    fn finish(mut self) -> Vec<Sight> {
        while let Some(write) = self.open.pop() {
            let term = self.computed.values.written(self.computed.id(write));
            if let Some(term) = term {
                self.add_term(term, write);
            }
            // Where the trace does not show what was written, it is that if the thread has not deviated.
            let window = self.computed.window;
            if term.is_none() || window.index.value_after(window.begin + write).is_none() {
                self.add_all_before(write);
            }
        }
        let mut sights: Vec<Sight> = self.sights.into_iter().collect();
        sights.sort_unstable();
        sights
    }

    /// What the term that `event` looks at is due to.
    fn add_term(&mut self, term: TermId, event: u32) {
        let (mut reads, mut sets) = (Vec::new(), Vec::new());
        self.computed.for_each_read(term, |read| reads.push(read), |set| sets.push(set));
        for set in sets {
            match self.computed.reads_of(set) {
                Some(of_set) => reads.extend(of_set),
                None => self.add_all_before(event),
            }
        }
        for read in reads {
            if let Some(read) = self.computed.local(read) {
                self.add_read(read);
            }
        }
    }

    /// All that the thread of the event has seen before, the event included.
    fn add_all_before(&mut self, event: u32) {
        let window = self.computed.window;
        let (thread, place) = (window.thread[event as usize] as usize, window.place[event as usize] as usize);
        for &earlier in &window.threads[thread][..=place] {
            self.add_read(earlier);
        }
    }

    fn add_read(&mut self, read: u32) {
        if let Some(&(write, _)) = self.computed.seen.get(&read)
            && self.sights.insert(Sight { read, write })
            && write != ENTRY
        {
            self.open.push(write);
        }
    }
}

/// The number or name that a value of the trace is.
pub(crate) fn datum(window: &Window<'_>, value: Option<Value>) -> Option<Datum> {
    let value = value?;
    Some(window.index.trace.names().value_number(value).map_or(Datum::Name(value), Datum::Number))
}

fn id(window: &Window<'_>, event: u32) -> EventId {
    // The event is one of the trace, which has been numbered.
    EventId::from_index((window.begin + event) as usize).unwrap_or(EventId::FIRST)
}
