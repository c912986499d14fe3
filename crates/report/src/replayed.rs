//! Which values the steps of a schedule see and write. They may differ from the recorded ones: not every read matters
//! to a race.

use foretell_trace::dependence::{Dependence, Part, Reads};
use foretell_trace::{Event, EventId, Op, ThreadId, Trace, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of all schedules of a trace.
#[derive(Debug)]
pub struct Recorded {
    /// What each variable holds at first; `None` if unknown.
    initial: FxHashMap<VarId, Option<Value>>,
}

impl Recorded {
    /// Looks at all events once.
    pub fn new(trace: &Trace) -> Recorded {
        let (mut initial, mut accessed) = (FxHashMap::default(), FxHashSet::default());
        for event in trace.events() {
            if let Op::Alloc(var) = event.op {
                initial.insert(var, None);
            }
            let Some(access) = event.op.access().filter(|access| accessed.insert(access.var)) else {
                continue;
            };
            if access.kind.reads() && !event.unexplained {
                initial.insert(access.var, event.op.value_read());
            } else {
                // What no read shows is 0 where it is not new memory, as for the referee.
                initial.entry(access.var).or_insert(Some(Value::ZERO));
            }
        }
        Recorded { initial }
    }
}

/// A schedule that is being gone through.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    recorded: &'a Recorded,
    /// Which reads matter to what, if the trace tells.
    dependence: Option<&'a Dependence>,
    /// What the variables hold that were written; `None` if that is not known.
    memory: FxHashMap<VarId, Option<Value>>,
    /// The reads that have seen something else than in the recorded run.
    strays: FxHashSet<EventId>,
    /// Who made these.
    strayed: FxHashSet<ThreadId>,
    /// Sets of reads that were looked at, and whether there is a stray among them.
    looked_at: FxHashMap<usize, bool>,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(trace: &'a Trace, recorded: &'a Recorded) -> Replay<'a> {
        Replay {
            recorded,
            dependence: trace.dependence(),
            memory: FxHashMap::default(),
            strays: FxHashSet::default(),
            strayed: FxHashSet::default(),
            looked_at: FxHashMap::default(),
        }
    }

    /// Takes the next step; returns what it does with the values that it has here, as far as they are known.
    pub(crate) fn step(&mut self, id: EventId, event: &Event) -> Op {
        let Some(access) = event.op.access() else { return event.op };
        // Where values are not recorded, a read keeps to the write that it saw.
        let seen = event.op.value_read().and_then(|read| self.seen(event, access.var, read));
        if event.op.value_read().is_some_and(|read| seen != Some(read)) {
            self.strays.insert(id);
            self.strayed.insert(event.thread);
        }
        let written = event.op.value_written().filter(|_| self.writes_the_same(id, event.thread));
        if access.kind.writes() {
            self.memory.insert(access.var, written);
        }
        with_values(event.op, seen, written)
    }

    /// Whether the read has seen something else than in the recorded run.
    pub(crate) fn has_strayed(&self, read: EventId) -> bool {
        self.strays.contains(&read)
    }

    /// What a read sees.
    fn seen(&self, event: &Event, var: VarId, recorded: Value) -> Option<Value> {
        match self.memory.get(&var) {
            _ if event.unexplained => Some(recorded),
            Some(&known) => known,
            None => self.recorded.initial.get(&var).copied().flatten(),
        }
    }

    /// Whether it is known that the event writes what it wrote: no read that its value depends on has strayed, or
    /// none at all where it is unknown which these are.
    fn writes_the_same(&mut self, write: EventId, thread: ThreadId) -> bool {
        if !self.strayed.contains(&thread) {
            return true;
        }
        self.dependence.is_some_and(|dependence| !self.has_stray(dependence, dependence.value_of(write)))
    }

    /// Whether one of these reads has strayed. All of them have been made, so what is known of a set stays true.
    fn has_stray(&mut self, dependence: &Dependence, reads: Reads) -> bool {
        let mut open = vec![reads];
        while let Some(&set) = open.last() {
            let Part::Both(index, first, second) = dependence.part(set) else {
                open.pop();
                continue;
            };
            match [first, second].map(|part| self.is_known_stray(dependence, part)) {
                _ if self.looked_at.contains_key(&index) => drop(open.pop()),
                [Some(one), Some(other)] => drop(self.looked_at.insert(index, one || other)),
                [one, other] => {
                    open.extend(
                        [(one, first), (other, second)]
                            .iter()
                            .filter(|part| part.0.is_none())
                            .map(|part| part.1),
                    );
                }
            }
        }
        self.is_known_stray(dependence, reads).unwrap_or(true)
    }

    /// The same, if it is known at a glance.
    fn is_known_stray(&self, dependence: &Dependence, reads: Reads) -> Option<bool> {
        match dependence.part(reads) {
            Part::Nothing => Some(false),
            Part::Everything => Some(true),
            Part::Read(read) => Some(self.strays.contains(&read)),
            Part::Both(index, ..) => self.looked_at.get(&index).copied(),
        }
    }
}

/// The operation with other values.
pub(crate) fn with_values(op: Op, seen: Option<Value>, stored: Option<Value>) -> Op {
    match op {
        Op::Read { var, .. } => Op::Read { var, value: seen },
        Op::Load { var, order, .. } => Op::Load { var, value: seen, order },
        Op::Write { var, .. } => Op::Write { var, value: stored },
        Op::Store { var, order, .. } => Op::Store { var, value: stored, order },
        Op::Rmw { var, order, .. } => Op::Rmw { var, read: seen, written: stored, order },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::format::text::op_text;

    use super::*;

    fn replay(text: &str, schedule: &[u32]) -> Vec<String> {
        let trace = foretell_testkit::trace(text);
        let recorded = Recorded::new(&trace);
        let mut replay = Replay::new(&trace, &recorded);
        let mut step = |&number: &u32| {
            let id = trace.id(number).unwrap();
            op_text(replay.step(id, &trace.event(id)), trace.names())
        };
        schedule.iter().map(&mut step).collect()
    }

    const TEXT: &str = "A|r(x,7)|1\nA|w(x,1)|2\nB|r(x,1)|3\nB|w(y,2)|4\nA|r(y,2)|5\nA|w(x,3)|6\n";

    #[test]
    fn the_recorded_order_has_the_recorded_values() {
        let values = replay(TEXT, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(values, ["r(x,7)", "w(x,1)", "r(x,1)", "w(y,2)", "r(y,2)", "w(x,3)"]);
    }

    #[test]
    fn new_memory_holds_what_its_first_read_shows_or_nobody_knows_what() {
        let shown = "A|alloc(x)|1\nA|r(x,5)|2\nA|w(x,1)|3\nB|r(x,1)|4\n";
        assert_eq!(replay(shown, &[1, 2, 4]), ["alloc(x)", "r(x,5)", "r(x,5)"]);
        let written = "A|alloc(x)|1\nA|w(x,1)|2\nB|r(x,1)|3\n";
        assert_eq!(replay(written, &[1, 3]), ["alloc(x)", "r(x)"]);
    }

    #[test]
    fn a_thread_that_sees_something_else_writes_who_knows_what() {
        assert_eq!(replay(TEXT, &[1, 3, 4, 2, 5]), ["r(x,7)", "r(x,7)", "w(y)", "w(x,1)", "r(y)"]);
        let two_writes = "A|w(x,1)|1\nA|w(x,2)|2\nB|r(x,2)|3\nB|w(y,2)|4\n";
        assert_eq!(replay(two_writes, &[1, 3, 4]), ["w(x,1)", "r(x,1)", "w(y)"]);
    }
}
