//! FastTrack (Flanagan and Freund, PLDI 2009): happens-before race detection in nearly constant time per access.
//!
//! As long as a variable has not raced, its writes are ordered, so the last one stands for all (an *epoch*: a thread and
//! its local time); the same holds for reads until two of them are concurrent, and only then is a time per thread kept.
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
    vars: Vec<Shadow>,
}

/// What is remembered of one variable.
#[derive(Debug, Default)]
struct Shadow {
    plain: Epochs,
    /// Of atomic accesses, where there are any.
    atomic: Option<Box<Epochs>>,
}

/// The last accesses of one kind of a variable.
#[derive(Debug, Default)]
struct Epochs {
    write: Option<Epoch>,
    reads: Reads,
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

#[derive(Debug, Default)]
enum Reads {
    #[default]
    None,
    /// All reads since the last write are ordered before this one.
    Last(Epoch),
    /// The last read of each thread that read since the last write; at least two are concurrent.
    Concurrent(Vec<Epoch>),
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

impl Shadow {
    fn access(&mut self, access: Access, now: Epoch, clock: &Clock, reports: &mut Reports) {
        self.plain.compare(access, now, clock, reports);
        if access.atomic {
            self.atomic.get_or_insert_default().record(access, now, clock);
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
        self.write.iter().for_each(&mut races_with);
        if access.kind.writes() {
            match &self.reads {
                Reads::None => {}
                Reads::Last(read) => races_with(read),
                Reads::Concurrent(reads) => reads.iter().for_each(races_with),
            }
        }
    }

    fn record(&mut self, access: Access, now: Epoch, clock: &Clock) {
        if access.kind.writes() {
            self.write = Some(now);
            // What reads before this write would race with, this write races with as well.
            self.reads = Reads::None;
        }
        if access.kind.reads() {
            self.record_read(now, clock);
        }
    }

    fn record_read(&mut self, now: Epoch, clock: &Clock) {
        match &mut self.reads {
            Reads::Last(last) if last.thread != now.thread && !last.is_before(clock) => {
                self.reads = Reads::Concurrent(vec![*last, now]);
            }
            Reads::None | Reads::Last(_) => self.reads = Reads::Last(now),
            Reads::Concurrent(reads) => match reads.iter_mut().find(|read| read.thread == now.thread) {
                Some(read) => *read = now,
                None => reads.push(now),
            },
        }
    }
}
