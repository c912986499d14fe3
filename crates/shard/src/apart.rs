//! Which locations have accesses that may race and lie in no common shard.
//!
//! Two accesses of different threads to one variable conflict, have no lock in common, and are not ordered by what
//! every schedule keeps; the quick check of a whole trace leaves exactly these. The last access of each kind before the
//! step before the present one is enough to know whether there is such a pair: whatever orders it orders those before
//! it.

use std::collections::BTreeSet;

use foretell_detect::clock::{Clocks, Time};
use foretell_detect::lock_set::{LockSetId, LockSets};
use foretell_detect::must::MustOrder;
use foretell_trace::{Access, Event, Loc, Names, ThreadId, VarId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// With more kinds of accesses a variable is not followed any further.
const MOST_KINDS: usize = 512;
/// So many pairs of locations are told one by one.
const MOST_LOCATIONS: usize = 100_000;

/// The pairs of locations of a trace that have accesses apart.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ApartLocations {
    /// Two locations, in the order of their names.
    pub pairs: Vec<(String, String)>,
    /// How many accesses were not compared with those far before them, because there were too many kinds of accesses.
    pub not_examined: u64,
}

/// Looks for such accesses in one pass.
#[derive(Debug)]
pub(crate) struct Apart {
    step: u32,
    must: MustOrder,
    clocks: Clocks,
    sets: LockSets,
    vars: FxHashMap<VarId, Vec<Kind>>,
    /// Pairs of locations that were found.
    found: BTreeSet<(Loc, Loc)>,
    not_examined: u64,
}

/// Accesses of one variable that are treated alike, and when the last of them was.
#[derive(Debug)]
struct Kind {
    thread: ThreadId,
    loc: Loc,
    access: Access,
    locks: LockSetId,
    /// The step that `last` is about.
    step: u32,
    /// The local time of the last access in that step, in the one before, and before that.
    last: [Option<Time>; 3],
}

impl Kind {
    /// Lets steps go by.
    fn go_on(&mut self, step: u32) {
        while self.step < step {
            let [now, before, long_before] = self.last;
            self.last = [None, now, before.or(long_before)];
            self.step = if self.last[..2] == [None, None] { step } else { self.step + 1 };
        }
    }
}

impl Apart {
    pub(crate) fn new(step: u32) -> Apart {
        Apart {
            step,
            must: MustOrder::certain(),
            clocks: Clocks::default(),
            sets: LockSets::default(),
            vars: FxHashMap::default(),
            found: BTreeSet::new(),
            not_examined: 0,
        }
    }

    pub(crate) fn event(&mut self, index: u32, event: &Event) {
        self.must.enter(event, &mut self.clocks);
        match event.op.access() {
            // What an unexplained event synchronised with is unknown: it races with nothing.
            Some(access) if !event.unexplained => self.access(index / self.step, event, access),
            Some(_) | None => {}
        }
        self.sets.event(event);
        self.must.leave(event, &mut self.clocks);
    }

    fn access(&mut self, step: u32, event: &Event, access: Access) {
        let (thread, loc) = (event.thread, event.loc);
        let locks = self.sets.held(thread);
        let time = self.clocks.of(thread).get(thread);
        let clock = self.clocks.seen(thread);
        let kinds = self.vars.entry(access.var).or_default();
        let mut own = None;
        for (place, kind) in kinds.iter_mut().enumerate() {
            if kind.thread == thread {
                if (kind.loc, kind.access, kind.locks) == (loc, access, locks) {
                    own = Some(place);
                }
                continue;
            }
            kind.go_on(step);
            if kind.last[2].is_some_and(|last| last > clock.get(kind.thread))
                && access.conflicts_with(kind.access)
                && self.sets.are_disjoint(locks, kind.locks)
            {
                self.found.insert((loc.min(kind.loc), loc.max(kind.loc)));
            }
        }
        match own {
            Some(place) => {
                kinds[place].go_on(step);
                kinds[place].last[0] = Some(time);
            }
            None if kinds.len() < MOST_KINDS => {
                kinds.push(Kind { thread, loc, access, locks, step, last: [Some(time), None, None] });
            }
            None => self.not_examined += 1,
        }
    }

    pub(crate) fn finish(self, names: &Names) -> ApartLocations {
        let left_out = self.found.len().saturating_sub(MOST_LOCATIONS) as u64;
        let pair = |&(a, b): &(Loc, Loc)| {
            let (a, b) = (names.loc_text(a).into_owned(), names.loc_text(b).into_owned());
            if a <= b { (a, b) } else { (b, a) }
        };
        let mut pairs: Vec<_> = self.found.iter().take(MOST_LOCATIONS).map(pair).collect();
        pairs.sort_unstable();
        ApartLocations { pairs, not_examined: self.not_examined + left_out }
    }
}
