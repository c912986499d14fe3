//! Candidates for uses after a free: accesses of threads other than the one that gives the memory back.
//!
//! That the two can come next to each other makes them a race as well; they are one of these also where something
//! keeps them apart, for instance a lock that both hold. Which access of a thread comes first after the free makes a
//! difference, since all before it have run by then: of many at one location, the first and the last are kept.

use foretell_detect::Pairs;
use foretell_trace::{EventId, Loc, Op, ThreadId, Trace, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::goal::Goal;

/// So many pairs of the same two locations are kept; more are only counted.
const MOST_PAIRS: usize = 64;
/// So many accesses of a thread to the same variable at the same location are kept, half of them the first ones; more
/// are only counted.
const MOST_ACCESSES: usize = 16;
/// So many pairs of locations are kept.
const MOST_PLACES: usize = 100_000;
/// After so many events it is asked whether to stop.
const EVENTS_AT_ONCE: usize = 1 << 16;

/// A use of memory, and what gives the memory back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FreedUse {
    /// The use.
    pub used: EventId,
    /// The free.
    pub freed: EventId,
}

impl From<&FreedUse> for Goal {
    fn from(pair: &FreedUse) -> Goal {
        Goal { next: vec![pair.used], ran: vec![pair.freed], ..Goal::new("the use after free") }
    }
}

/// Uses that count as one: of the same two locations, unless each counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreedUses {
    /// The uses, the closest to their frees first. Never empty.
    pub uses: Vec<FreedUse>,
    /// How many more there are.
    pub left_out: u64,
}

/// All candidates of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FreedMemory {
    /// Those that are to be decided.
    pub uses: Vec<FreedUses>,
    /// There are more than were kept.
    pub are_more: bool,
}

impl FreedMemory {
    /// The candidates of the trace. `is_stopped` tells when to give up.
    pub fn of(trace: &Trace, pairs: Pairs, is_stopped: impl Fn() -> bool) -> FreedMemory {
        let mut found = FreedMemory::default();
        let freed: FxHashSet<VarId> = trace.events().iter().filter_map(|event| freed(event.op)).collect();
        if freed.is_empty() {
            return found;
        }
        let mut history = History { pairs, freed, vars: FxHashMap::default(), places: FxHashMap::default() };
        for (id, event) in trace.iter() {
            if id.index().is_multiple_of(EVENTS_AT_ONCE) && is_stopped() {
                found.are_more = true;
                break;
            }
            match event.op {
                Op::Free(var) => history.free(&mut found, trace, (id, event.thread, event.loc), var),
                op => {
                    if let Some(access) = op.access() {
                        history.access(access.var, event.thread, event.loc, id);
                    }
                }
            }
        }
        found
    }
}

fn freed(op: Op) -> Option<VarId> {
    match op {
        Op::Free(var) => Some(var),
        _ => None,
    }
}

/// What was accessed so far, and may be given back.
struct History {
    pairs: Pairs,
    freed: FxHashSet<VarId>,
    /// The accesses of each variable, by thread and location.
    vars: FxHashMap<VarId, Vec<Accesses>>,
    /// The places of what was found, with where it stands.
    places: FxHashMap<(Loc, Loc), usize>,
}

/// The accesses of a thread to a variable at one location.
struct Accesses {
    thread: ThreadId,
    loc: Loc,
    events: Vec<EventId>,
    /// How many more there are.
    more: u64,
}

impl History {
    fn access(&mut self, var: VarId, thread: ThreadId, loc: Loc, id: EventId) {
        if !self.freed.contains(&var) {
            return;
        }
        let all = self.vars.entry(var).or_default();
        let same = |known: &&mut Accesses| (known.thread, known.loc) == (thread, loc);
        let Some(known) = all.iter_mut().find(same) else {
            return all.push(Accesses { thread, loc, events: vec![id], more: 0 });
        };
        if self.pairs == Pairs::ByLocation && known.events.len() >= MOST_ACCESSES {
            known.events.remove(MOST_ACCESSES / 2);
            known.more += 1;
        }
        known.events.push(id);
    }

    fn free(&mut self, found: &mut FreedMemory, trace: &Trace, by: (EventId, ThreadId, Loc), var: VarId) {
        let (freed, thread, loc) = by;
        let accesses = self.vars.remove(&var).unwrap_or_default();
        for by_other in accesses.iter().rev().filter(|accesses| accesses.thread != thread) {
            let uses = by_other.events.iter().rev().filter(|&&used| !trace.event(used).unexplained);
            let uses: Vec<FreedUse> = uses.map(|&used| FreedUse { used, freed }).collect();
            if self.pairs == Pairs::All {
                found.uses.extend(uses.into_iter().map(|pair| FreedUses { uses: vec![pair], left_out: 0 }));
            } else if !uses.is_empty() {
                self.add(found, (loc, by_other.loc), uses, by_other.more);
            }
        }
    }

    /// Adds uses at these places of the free and of the use.
    fn add(&mut self, found: &mut FreedMemory, at: (Loc, Loc), uses: Vec<FreedUse>, more: u64) {
        let next = found.uses.len();
        let place = *self.places.entry(at).or_insert(next);
        if place == next {
            if next >= MOST_PLACES {
                self.places.remove(&at);
                found.are_more = true;
                return;
            }
            found.uses.push(FreedUses { uses: Vec::new(), left_out: 0 });
        }
        let known = &mut found.uses[place];
        let room = MOST_PAIRS.saturating_sub(known.uses.len());
        known.left_out += more + uses.len().saturating_sub(room) as u64;
        known.uses.extend(uses.into_iter().take(room));
    }
}
