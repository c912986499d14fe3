//! Whether anything is left to find. Programs that do not end make long traces of few locations: once all locations
//! that conflict are known to race, no further stage has to go through millions of pairs.

use std::collections::HashSet;

use foretell_trace::source::BATCH;
use foretell_trace::{Access, AccessKind, Event, EventId, Loc, Op, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::Found;
use crate::control::Control;
use crate::error::Error;
use crate::input::Input;

/// A variable with more kinds of accesses than this is not worth the time.
const MOST: usize = 1000;

/// Whether two locations may race that are not among these races. Says yes where that is not clear.
pub(crate) fn is_anything_left(
    input: &Input<'_>,
    races: &[Found],
    control: &dyn Control,
) -> Result<bool, Error> {
    let mut uses =
        Uses::new(races.iter().map(|race| (race.finding.first(), race.finding.second())).collect());
    if let Some(trace) = input.trace() {
        for (number, events) in trace.events().chunks(BATCH).enumerate() {
            if let Some(first) = EventId::from_index(number * BATCH)
                && !control.is_stopped()
            {
                uses.look(first, events);
            }
        }
    } else {
        let mut reading = input.open("looks what is left")?;
        while !control.is_stopped()
            && let Some((first, events)) = reading.next()?
        {
            uses.look(first, events);
        }
    }
    Ok(control.is_stopped() || uses.is_anything_left())
}

/// The key of accesses that are treated alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Use {
    loc: Loc,
    kind: AccessKind,
    atomic: bool,
}

impl Use {
    fn conflicts_with(self, other: Use, var: VarId) -> bool {
        let access = |one: Use| Access { var, kind: one.kind, atomic: one.atomic };
        access(self).conflicts_with(access(other))
    }
}

/// How the variables of a trace are used.
struct Uses {
    /// The threads that make accesses of each kind: one, or several.
    by_var: FxHashMap<(VarId, Use), Option<ThreadId>>,
    /// The races that are known, as pairs of events,
    races: Vec<(EventId, EventId)>,
    /// and the locations of these events, as far as they have come by.
    locations: FxHashMap<EventId, Loc>,
    /// The events whose locations are wanted.
    wanted: HashSet<EventId>,
    /// The threads that can run, in the order in which they came.
    threads: FxHashSet<ThreadId>,
    /// A thread without a fork event may have run from the beginning.
    is_unclear: bool,
}

impl Uses {
    fn new(races: Vec<(EventId, EventId)>) -> Uses {
        let wanted = races.iter().flat_map(|&(first, second)| [first, second]).collect();
        Uses {
            by_var: FxHashMap::default(),
            races,
            locations: FxHashMap::default(),
            wanted,
            threads: FxHashSet::default(),
            is_unclear: false,
        }
    }

    fn look(&mut self, first: EventId, events: &[Event]) {
        for (index, event) in (first.index()..).zip(events) {
            if self.threads.insert(event.thread) {
                self.is_unclear |= self.threads.len() > 1;
            }
            if let Op::Fork(child) = event.op {
                self.threads.insert(child);
            }
            let Some(access) = event.op.access().filter(|_| !event.unexplained) else { continue };
            // What the first thread did while there was no other comes before all that others do.
            if self.threads.len() > 1 {
                self.add(event, access);
                if let Some(id) = EventId::from_index(index).filter(|id| self.wanted.contains(id)) {
                    self.locations.insert(id, event.loc);
                }
            }
        }
    }

    fn add(&mut self, event: &Event, access: Access) {
        let one = Use { loc: event.loc, kind: access.kind, atomic: access.atomic };
        let thread = self.by_var.entry((access.var, one)).or_insert(Some(event.thread));
        if *thread != Some(event.thread) {
            *thread = None;
        }
    }

    fn is_anything_left(&self) -> bool {
        let known: FxHashSet<(Loc, Loc)> = self.races.iter().filter_map(|race| self.pair(*race)).collect();
        let mut of_var: FxHashMap<VarId, Vec<(Use, Option<ThreadId>)>> = FxHashMap::default();
        for (&(var, one), &thread) in &self.by_var {
            of_var.entry(var).or_default().push((one, thread));
        }
        self.is_unclear || of_var.iter().any(|(&var, uses)| may_race(var, uses, &known))
    }

    fn pair(&self, (first, second): (EventId, EventId)) -> Option<(Loc, Loc)> {
        Some(unordered(*self.locations.get(&first)?, *self.locations.get(&second)?))
    }
}

/// Whether a variable has two uses that conflict and are not known to race.
fn may_race(var: VarId, uses: &[(Use, Option<ThreadId>)], known: &FxHashSet<(Loc, Loc)>) -> bool {
    let may_race = |&(one, by): &(Use, Option<ThreadId>), &(other, by_other): &(Use, Option<ThreadId>)| {
        (by.is_none() || by != by_other)
            && one.conflicts_with(other, var)
            && !known.contains(&unordered(one.loc, other.loc))
    };
    uses.len() > MOST
        || uses
            .iter()
            .enumerate()
            .any(|(index, one)| uses.iter().skip(index).any(|other| may_race(one, other)))
}

fn unordered(a: Loc, b: Loc) -> (Loc, Loc) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether anything is left once these lines of the trace are known to race.
    fn left(trace: &str, races: &[(u32, u32)]) -> bool {
        let trace = foretell_testkit::trace(trace);
        let id = |number| EventId::from_number(number).unwrap();
        let mut uses = Uses::new(races.iter().map(|&(first, second)| (id(first), id(second))).collect());
        uses.look(EventId::FIRST, trace.events());
        uses.is_anything_left()
    }

    #[test]
    fn nothing_is_left_once_all_that_conflicts_is_known() {
        let trace = "m|w(x)|1\nm|fork(a)|2\nm|fork(b)|3\na|w(x)|4\nb|r(x)|5\nb|w(x)|4\na|r(y)|6\nb|r(y)|7\n";
        assert!(left(trace, &[]));
        assert!(left(trace, &[(4, 5)]), "two writes at one place are left");
        assert!(left(trace, &[(4, 6)]));
        assert!(!left(trace, &[(4, 5), (4, 6)]));
    }

    #[test]
    fn threads_that_nobody_has_started_make_it_unclear() {
        assert!(left("a|w(x)|1\nb|w(y)|2\n", &[]));
        assert!(!left("a|fork(b)|1\nb|w(y)|2\na|w(x)|3\n", &[]));
    }

    #[test]
    fn atomics_do_not_conflict_with_each_other() {
        let trace = |last: &str| format!("m|fork(a)|1\nm|astore.rlx(x,1)|2\na|{last}|3\n");
        assert!(!left(&trace("aload.rlx(x,1)"), &[]));
        assert!(left(&trace("r(x,1)"), &[]));
    }
}
