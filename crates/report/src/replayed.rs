//! Which values the steps of a schedule see and write. They may differ from the recorded ones: not every read matters to a race.

use foretell_trace::{Event, EventId, Op, ThreadId, Trace, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of all schedules of a trace.
#[derive(Debug)]
pub struct Recorded {
    /// The first event that writes each variable.
    first_writes: FxHashMap<VarId, EventId>,
}

impl Recorded {
    /// Looks at all events once.
    pub fn new(trace: &Trace) -> Recorded {
        let mut first_writes = FxHashMap::default();
        for (id, event) in trace.iter() {
            if let Some(access) = event.op.access().filter(|access| access.kind.writes()) {
                first_writes.entry(access.var).or_insert(id);
            }
        }
        Recorded { first_writes }
    }
}

/// A schedule that is being gone through.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    recorded: &'a Recorded,
    /// What the variables hold that were written; `None` if that is not known.
    memory: FxHashMap<VarId, Option<Value>>,
    /// Who has read something else than in the recorded run: what he writes from then on is not known.
    strayed: FxHashSet<ThreadId>,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(recorded: &'a Recorded) -> Replay<'a> {
        Replay { recorded, memory: FxHashMap::default(), strayed: FxHashSet::default() }
    }

    /// Takes the next step; returns what it does with the values that it has here, as far as they are known.
    pub(crate) fn step(&mut self, id: EventId, event: &Event) -> Op {
        let Some(access) = event.op.access() else { return event.op };
        // Where values are not recorded, a read keeps to the write that it saw.
        let seen = event.op.value_read().and_then(|read| self.seen(id, event, access.var, read));
        if event.op.value_read().is_some_and(|read| seen != Some(read)) {
            self.strayed.insert(event.thread);
        }
        let written = event.op.value_written().filter(|_| !self.strayed.contains(&event.thread));
        if access.kind.writes() {
            self.memory.insert(access.var, written);
        }
        with_values(event.op, seen, written)
    }

    /// What a read sees.
    fn seen(&self, id: EventId, event: &Event, var: VarId, recorded: Value) -> Option<Value> {
        match self.memory.get(&var) {
            _ if event.unexplained => Some(recorded),
            Some(&known) => known,
            None => {
                // What nobody has written holds what it held at first, which the recorded read saw, too, if it came first.
                let first = self.recorded.first_writes.get(&var);
                first.is_none_or(|&first| id <= first).then_some(recorded)
            }
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
        let mut replay = Replay::new(&recorded);
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
    fn a_thread_that_sees_something_else_writes_who_knows_what() {
        assert_eq!(replay(TEXT, &[1, 3, 4, 2, 5]), ["r(x,7)", "r(x)", "w(y)", "w(x,1)", "r(y)"]);
        let two_writes = "A|w(x,1)|1\nA|w(x,2)|2\nB|r(x,2)|3\nB|w(y,2)|4\n";
        assert_eq!(replay(two_writes, &[1, 3, 4]), ["w(x,1)", "r(x,1)", "w(y)"]);
    }
}
