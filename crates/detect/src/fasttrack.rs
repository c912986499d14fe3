//! FastTrack (Flanagan and Freund, PLDI 2009): happens-before race detection in nearly constant time per access.
//!
//! As long as a variable has not raced, its writes are ordered, so the last one stands for all (an *epoch*: a thread
//! and its local time); the same holds for reads until two of them are concurrent, and only then is a time per thread
//! kept. Atomic writes need not be ordered, so of them a time per thread is kept, too, and none stands for what it is
//! not ordered after.
//!
//! **Changed:** happens-before honours the memory order of atomics ([`crate::happens_before`]); atomic accesses have
//! epochs of their own, which plain accesses are compared with, but not atomic ones. Each access is reported with the
//! accesses that the epochs remember, at most one per kind or thread; with `Pairs::All` nothing more is found, only
//! repetitions of a location pair are kept.
//!
//! **Guarantee:** the first report is a race. Later ones need not be (see [`crate::hb`]).
//!
//! **May miss:** what happens-before misses; and after a race on a variable, races with accesses that the epochs no
//! longer remember. Use [`crate::hb`] for all racing location pairs.

use foretell_trace::{Access, Event, EventId, Loc, ThreadId};

use crate::Detector;
use crate::clock::{Clock, Time};
use crate::happens_before::HappensBefore;
use crate::report::Reports;
use crate::table::at;

/// Reports accesses that happens-before does not order, as far as epochs remember them.
#[derive(Debug, Default)]
pub struct FastTrack {
    order: HappensBefore,
    vars: Vec<VariableShadow>,
}

/// What is remembered of one variable.
#[derive(Debug, Default)]
struct VariableShadow {
    plain: Epochs,
    /// Of atomic accesses, where there are any.
    atomic: Option<Box<Epochs>>,
}

/// The last accesses of one kind of a variable.
#[derive(Debug, Default)]
struct Epochs {
    writes: MaximalAccesses,
    reads: MaximalAccesses,
}

/// An access, by who made it and when.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    thread: ThreadId,
    time: Time,
    event: EventId,
    loc: Loc,
}

impl Epoch {
    fn is_before(&self, clock: &Clock) -> bool {
        self.time <= clock.get(self.thread)
    }
}

/// Those accesses of a kind that no later one stands for.
#[derive(Debug, Default)]
enum MaximalAccesses {
    #[default]
    None,
    /// All others are ordered before this one.
    One(Epoch),
    /// The last one of each thread; at least two are, or were, concurrent.
    Concurrent(Vec<Epoch>),
}

impl MaximalAccesses {
    fn as_slice(&self) -> &[Epoch] {
        match self {
            MaximalAccesses::None => &[],
            MaximalAccesses::One(only) => std::slice::from_ref(only),
            MaximalAccesses::Concurrent(all) => all,
        }
    }

    fn add(&mut self, now: Epoch, clock: &Clock) {
        match self {
            MaximalAccesses::One(last) if last.thread != now.thread && !last.is_before(clock) => {
                *self = MaximalAccesses::Concurrent(vec![*last, now]);
            }
            MaximalAccesses::None | MaximalAccesses::One(_) => *self = MaximalAccesses::One(now),
            MaximalAccesses::Concurrent(all) => {
                match all.iter_mut().find(|access| access.thread == now.thread) {
                    Some(access) => *access = now,
                    None => all.push(now),
                }
            }
        }
    }

    /// Forgets what an access with this clock stands for.
    fn forget_before(&mut self, thread: ThreadId, clock: &Clock) {
        let stands_for = |access: &Epoch| access.thread == thread || access.is_before(clock);
        match self {
            MaximalAccesses::One(only) if stands_for(only) => *self = MaximalAccesses::None,
            MaximalAccesses::None | MaximalAccesses::One(_) => {}
            MaximalAccesses::Concurrent(all) => all.retain(|access| !stands_for(access)),
        }
    }
}

impl Detector for FastTrack {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let FastTrack { order, vars } = self;
        order.step(event, |clocks, access| {
            let clock = clocks.of(event.thread);
            let now =
                Epoch { thread: event.thread, time: clock.get(event.thread), event: id, loc: event.loc };
            at(vars, access.var.index()).access(access, now, clock, reports);
        });
    }
}

impl VariableShadow {
    fn access(&mut self, access: Access, now: Epoch, clock: &Clock, reports: &mut Reports) {
        self.plain.compare(access, now, clock, reports);
        if access.atomic {
            self.atomic.get_or_insert_default().record_atomic(access, now, clock);
        } else {
            if let Some(atomic) = &self.atomic {
                atomic.compare(access, now, clock, reports);
            }
            self.plain.record(access, now, clock);
        }
    }
}

impl Epochs {
    fn compare(&self, access: Access, now: Epoch, clock: &Clock, reports: &mut Reports) {
        let mut races_with = |earlier: &Epoch| {
            if !earlier.is_before(clock) {
                reports.push((earlier.event, earlier.loc), (now.event, now.loc));
            }
        };
        self.writes.as_slice().iter().for_each(&mut races_with);
        if access.kind.writes() {
            self.reads.as_slice().iter().for_each(races_with);
        }
    }

    fn record(&mut self, access: Access, now: Epoch, clock: &Clock) {
        if access.kind.writes() {
            // What earlier accesses would race with, this write races with as well, or they have raced already.
            *self = Epochs { writes: MaximalAccesses::One(now), reads: MaximalAccesses::None };
        } else {
            self.reads.add(now, clock);
        }
    }

    /// Nothing orders atomic accesses among each other: this one stands only for those that are ordered before it.
    fn record_atomic(&mut self, access: Access, now: Epoch, clock: &Clock) {
        if access.kind.writes() {
            self.reads.forget_before(now.thread, clock);
            self.writes.add(now, clock);
        } else {
            self.reads.add(now, clock);
        }
    }
}
