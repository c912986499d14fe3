//! Which reads matter to what, as the trace tells it, by the indices of events.

use foretell_trace::dependence::{Dependence, Part, Reads};
use foretell_trace::{EventId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::NONE;

/// The dependences of a trace.
#[derive(Debug)]
pub(crate) struct Flow<'t> {
    dependence: &'t Dependence,
    /// For each set of two, the last of its reads.
    newest: Vec<u32>,
    /// The reads that matter to nothing after all, see [`Flow::let_go`]; if there are none, it may be empty.
    let_go: Vec<bool>,
}

/// The sets of two that were searched for a deviating read, each with one that is in it, or [`NONE`].
pub(crate) type Searched = FxHashMap<usize, u32>;

impl<'t> Flow<'t> {
    /// What the trace tells, if it does.
    pub(crate) fn new(trace: &'t Trace) -> Option<Flow<'t>> {
        let dependence = trace.dependence()?;
        let mut newest: Vec<u32> = Vec::with_capacity(dependence.union_count());
        for sets in dependence.unions() {
            let of = |set: Reads| match dependence.part(set) {
                Part::Nothing => 0,
                Part::Everything => NONE,
                Part::Read(read) => index(read),
                Part::Both(union, ..) => newest.get(union).copied().unwrap_or(NONE),
            };
            newest.push(of(sets[0]).max(of(sets[1])));
        }
        Some(Flow { dependence, newest, let_go: Vec::new() })
    }

    /// These reads of all events see what they saw whatever happens, so they matter to nothing.
    pub(crate) fn let_go(&mut self, reads: Vec<bool>) {
        self.let_go = reads;
    }

    fn is_kept(&self, read: u32) -> bool {
        !self.let_go.get(read as usize).copied().unwrap_or(false)
    }

    /// The first event that the read steers, or [`NONE`].
    pub(crate) fn steered_by(&self, read: u32) -> u32 {
        let id = EventId::from_index(read as usize).filter(|_| self.is_kept(read));
        let steered = id.and_then(|read| self.dependence.steered_by(read));
        steered.map_or(NONE, index)
    }

    /// What the value that an event writes depends on.
    pub(crate) fn value_of(&self, write: u32) -> Reads {
        EventId::from_index(write as usize).map_or(Reads::EVERYTHING, |write| self.dependence.value_of(write))
    }

    /// Calls `visit` with the reads of a set, but for those before `begin` and those of the sets that are in `visited`,
    /// to which it adds what it comes by.
    pub(crate) fn for_each_read(
        &self,
        set: Reads,
        begin: u32,
        visited: &mut FxHashSet<usize>,
        mut visit: impl FnMut(u32),
    ) {
        let mut open = vec![set];
        while let Some(set) = open.pop() {
            match self.dependence.part(set) {
                Part::Read(read) if index(read) >= begin && self.is_kept(index(read)) => visit(index(read)),
                Part::Both(union, first, second) => {
                    if self.newest[union] >= begin && visited.insert(union) {
                        open.extend([first, second]);
                    }
                }
                Part::Nothing | Part::Everything | Part::Read(_) => {}
            }
        }
    }

    /// One of the reads of a set, none before `begin`, that has deviated; [`NONE`] if there is none.
    pub(crate) fn deviation_in(
        &self,
        set: Reads,
        begin: u32,
        searched: &mut Searched,
        has_deviated: impl Fn(u32) -> bool,
    ) -> u32 {
        let known = |set: Reads, searched: &Searched| match self.dependence.part(set) {
            Part::Read(read)
                if index(read) >= begin && self.is_kept(index(read)) && has_deviated(index(read)) =>
            {
                Some(index(read))
            }
            Part::Both(union, ..) if self.newest[union] >= begin => searched.get(&union).copied(),
            _ => Some(NONE),
        };
        let mut open = vec![set];
        while let Some(&last) = open.last() {
            match self.dependence.part(last) {
                Part::Both(union, first, second) if known(last, searched).is_none() => {
                    match [known(first, searched), known(second, searched)] {
                        [Some(one), Some(other)] => {
                            searched.insert(union, one.min(other));
                        }
                        [None, _] => open.push(first),
                        [_, None] => open.push(second),
                    }
                }
                _ => {
                    open.pop();
                }
            }
        }
        known(set, searched).unwrap_or(NONE)
    }
}

fn index(event: EventId) -> u32 {
    event.number() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads, the second of which only reads.
    const TEXT: &str = "A|r(x)|1\nA|r(y)|2\nB|r(y)|3\nA|r(z)|4\nA|w(z)|5\n";

    fn id(number: u32) -> EventId {
        EventId::from_number(number).unwrap()
    }

    fn trace() -> Trace {
        let trace = foretell_testkit::trace(TEXT);
        let mut dependence = Dependence::new(trace.events().len());
        dependence.steer(id(1), id(4));
        let old = dependence.unite(Reads::of(id(1)), Reads::of(id(2)));
        let all = dependence.unite(old, Reads::of(id(4)));
        dependence.set_value(id(5), all);
        trace.with_dependence(dependence).unwrap()
    }

    #[test]
    fn a_set_is_looked_through_once_and_not_before_the_beginning() {
        let trace = trace();
        let flow = Flow::new(&trace).unwrap();
        assert_eq!((flow.steered_by(0), flow.steered_by(1)), (3, NONE));
        let (value, mut visited) = (flow.value_of(4), FxHashSet::default());
        let mut reads = |begin| {
            let mut reads = Vec::new();
            flow.for_each_read(value, begin, &mut visited, |read| reads.push(read));
            reads.sort_unstable();
            reads
        };
        assert_eq!(reads(2), [3]);
        assert_eq!(reads(0), [0; 0], "the set has been visited");
        visited.clear();
        let mut reads = Vec::new();
        flow.for_each_read(value, 0, &mut visited, |read| reads.push(read));
        reads.sort_unstable();
        assert_eq!(reads, [0, 1, 3]);
    }

    #[test]
    fn a_deviation_is_found_wherever_it_is() {
        let trace = trace();
        let flow = Flow::new(&trace).unwrap();
        let deviation = |begin, deviating: &[u32]| {
            flow.deviation_in(flow.value_of(4), begin, &mut Searched::default(), |read| {
                deviating.contains(&read)
            })
        };
        assert_eq!(deviation(0, &[]), NONE);
        assert_eq!(deviation(0, &[2]), NONE, "of another thread");
        assert_eq!(deviation(0, &[1]), 1);
        assert_eq!(deviation(0, &[0, 3]), 0);
        assert_eq!(deviation(1, &[0]), NONE, "before the beginning");
    }
}
