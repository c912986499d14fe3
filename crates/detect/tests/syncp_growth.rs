//! Traces that would take hours if any part of the detector were quadratic in their length.

use foretell_detect::syncp::SyncP;
use foretell_detect::{Detector, Pairs, Reports};
use foretell_trace::{Event, EventId, Loc, LockId, MemOrder, Op, Symbol, ThreadId, VarId};

const ROUNDS: usize = 100_000;

/// Builds a trace event by event.
#[derive(Default)]
struct Events(Vec<Event>);

impl Events {
    fn push(&mut self, thread: usize, op: Op, loc: usize) {
        let loc = Loc(Symbol::number(u32::try_from(loc).unwrap()).unwrap());
        self.0.push(Event::new(ThreadId::from_index(thread).unwrap(), op, loc));
    }

    fn write(&mut self, thread: usize, var: usize, loc: usize) {
        self.push(thread, Op::Write { var: VarId::from_index(var).unwrap(), value: None }, loc);
    }

    fn read(&mut self, thread: usize, var: usize, loc: usize) {
        self.push(thread, Op::Read { var: VarId::from_index(var).unwrap(), value: None }, loc);
    }

    fn section(&mut self, thread: usize, lock: usize, inside: impl FnOnce(&mut Events)) {
        let lock = LockId::from_index(lock).unwrap();
        self.push(thread, Op::Acquire(lock), 0);
        inside(self);
        self.push(thread, Op::Release(lock), 0);
    }

    fn races(&self, wanted: Pairs) -> usize {
        let mut reports = Reports::new(wanted);
        let mut detector = SyncP::default();
        detector.batch(EventId::FIRST, &self.0, &mut reports);
        detector.finish(&mut reports);
        reports.pairs().len()
    }
}

#[test]
fn one_variable_without_locks() {
    let mut events = Events::default();
    for round in 0..ROUNDS {
        let thread = round % 4;
        events.write(thread, 0, thread);
        events.read(thread, 0, 10 + thread);
    }
    // Each thread's write with each other's write, and with each other's read.
    assert_eq!(events.races(Pairs::ByLocation), 6 + 12);
}

#[test]
fn locations_of_their_own_against_one_location() {
    let mut events = Events::default();
    for round in 0..ROUNDS {
        events.write(0, 0, 10 + round);
        events.write(1, 0, 1);
    }
    assert_eq!(events.races(Pairs::ByLocation), ROUNDS);
}

/// The second thread's writes are ordered after those of the first one by the rule for locks alone, so its clock never
/// learns of them; the first thread learns of the second one through an atomic.
#[test]
fn sections_that_only_ideals_know() {
    let mut events = Events::default();
    let flag = VarId::from_index(1).unwrap();
    let order = MemOrder::SeqCst;
    for round in 0..ROUNDS {
        events.push(0, Op::Load { var: flag, value: None, order }, 0);
        events.section(0, 1, |_| ());
        events.section(0, 0, |events| events.write(0, 0, 10 + 2 * round));
        events.section(1, 0, |_| ());
        events.write(1, 0, 11 + 2 * round);
        events.push(1, Op::Store { var: flag, value: None, order }, 0);
    }
    for wanted in [Pairs::ByLocation, Pairs::All] {
        assert_eq!(events.races(wanted), 0, "{wanted:?}");
    }
}

#[test]
fn a_variable_under_ever_new_locks() {
    let mut events = Events::default();
    for round in 0..ROUNDS {
        let thread = round % 4;
        events.section(thread, round, |events| {
            events.read(thread, 0, 1);
            events.write(thread, 0, 2);
        });
    }
    // A thread's write with the next thread's read; all else is ordered by what is read.
    assert_eq!(events.races(Pairs::ByLocation), 1);
}

#[test]
fn many_threads() {
    let mut events = Events::default();
    for round in 0..ROUNDS {
        let thread = round % 500;
        events.section(thread, round % 7, |events| {
            events.read(thread, round % 7, 1);
            events.write(thread, round % 7, 2);
        });
        if round % 1000 == 0 {
            events.write(thread, 0, 3);
        }
    }
    assert_eq!(events.races(Pairs::ByLocation), 2);
}
