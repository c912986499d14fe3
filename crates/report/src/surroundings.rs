//! What is around events of a trace: the calls that led there, the locks that are held, who started the thread. One
//! pass over the trace for all events of interest.

use std::collections::HashMap;

use foretell_trace::{Event, EventId, LabelId, Loc, LockId, LockMode, Op, ThreadId, VarId};

/// How many of the innermost calls are kept.
const CALLS: usize = 64;
/// How many of them are kept for each lock: enough to get out of the library that implements it.
const CALLS_OF_LOCKS: usize = 16;

/// A function that was entered and not yet left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function.
    pub function: LabelId,
    /// Where it was called.
    pub loc: Loc,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// Which one.
    pub lock: LockId,
    /// Alone, or together with other readers.
    pub mode: LockMode,
    /// Where it was taken.
    pub loc: Loc,
    /// The calls that led there, the outermost first; of many, the innermost.
    pub calls: Vec<Call>,
}

/// How a thread, or the memory of a variable, came to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// The event that started or allocated it.
    pub event: EventId,
    /// Who did that.
    pub by: ThreadId,
    /// Where.
    pub loc: Loc,
    /// The calls that led there, the outermost first.
    pub calls: Vec<Call>,
}

/// What is around one event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// The calls that led there, the outermost first; of very many, the innermost.
    pub calls: Vec<Call>,
    /// The locks that its thread holds, in the order in which they were taken.
    pub locks: Vec<Held>,
    /// Who started its thread, if the trace shows it.
    pub started: Option<Start>,
    /// Who allocated the memory that it accesses, if that was asked for and the trace shows it.
    pub allocated: Option<Start>,
}

/// Walks along a trace and remembers what is around the wanted events.
#[derive(Debug)]
pub struct Walk {
    /// The wanted events that are still to come, the next one last.
    wanted: Vec<EventId>,
    /// By thread.
    now: Vec<Surroundings>,
    /// The variables of which it is wanted who allocated them, and that.
    memory: HashMap<VarId, Option<Start>>,
    found: HashMap<EventId, Surroundings>,
}

impl Walk {
    /// Begins before the first event.
    pub fn new(wanted: impl IntoIterator<Item = EventId>) -> Walk {
        let mut wanted: Vec<EventId> = wanted.into_iter().collect();
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        wanted.dedup();
        Walk { wanted, now: Vec::new(), memory: HashMap::new(), found: HashMap::new() }
    }

    /// Also remembers who allocated these variables.
    pub fn with_memory(mut self, vars: impl IntoIterator<Item = VarId>) -> Walk {
        self.memory = vars.into_iter().map(|var| (var, None)).collect();
        self
    }

    /// Whether no wanted event is still to come.
    pub fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Goes over the next events; `first` is the id of the first of them.
    pub fn batch(&mut self, first: EventId, events: &[Event]) {
        let ids = (first.index()..).map_while(EventId::from_index);
        for (id, event) in ids.zip(events) {
            if self.wanted.last() == Some(&id) {
                self.wanted.pop();
                let mut around = self.thread(event.thread).innermost();
                let var = event.op.access().map(|access| access.var);
                around.allocated = var.and_then(|var| self.memory.get(&var).cloned().flatten());
                self.found.insert(id, around);
            }
            if self.is_done() {
                return;
            }
            self.step(id, event);
        }
    }

    /// What is around each thread after all events, by the threads' numbers.
    pub fn at_end(events: &[Event]) -> Vec<Surroundings> {
        let mut walk = Walk::new([]);
        let ids = (0..).map_while(EventId::from_index);
        for (id, event) in ids.zip(events) {
            walk.step(id, event);
        }
        walk.now
    }

    /// What is around the wanted events.
    pub fn finish(self) -> HashMap<EventId, Surroundings> {
        self.found
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Surroundings {
        let index = thread.index();
        if self.now.len() <= index {
            self.now.resize_with(index + 1, Surroundings::default);
        }
        &mut self.now[index]
    }

    fn step(&mut self, id: EventId, event: &Event) {
        let loc = event.loc;
        if let Some((lock, mode)) = event.op.section_begin() {
            let thread = self.thread(event.thread);
            let calls = innermost(&thread.calls, CALLS_OF_LOCKS);
            thread.locks.push(Held { lock, mode, loc, calls });
        } else if let Some((lock, mode)) = event.op.section_end() {
            let locks = &mut self.thread(event.thread).locks;
            if let Some(at) = locks.iter().rposition(|held| (held.lock, held.mode) == (lock, mode)) {
                locks.remove(at);
            }
        }
        match event.op {
            Op::Enter(function) => self.thread(event.thread).calls.push(Call { function, loc }),
            Op::Exit(function) => self.thread(event.thread).leave(function),
            Op::Fork(child) => {
                let calls = innermost(&self.thread(event.thread).calls, CALLS);
                self.thread(child).started = Some(Start { event: id, by: event.thread, loc, calls });
            }
            Op::Alloc(var) if self.memory.contains_key(&var) => {
                let calls = innermost(&self.thread(event.thread).calls, CALLS);
                self.memory.insert(var, Some(Start { event: id, by: event.thread, loc, calls }));
            }
            _ => {}
        }
    }
}

impl Surroundings {
    /// The function is left, and with it those that it called and that were left in some way which the trace does not
    /// show: by an exception, or a long jump.
    fn leave(&mut self, function: LabelId) {
        if let Some(at) = self.calls.iter().rposition(|call| call.function == function) {
            self.calls.truncate(at);
        }
    }

    /// As it is now, without the outermost of too many calls.
    fn innermost(&self) -> Surroundings {
        Surroundings {
            calls: innermost(&self.calls, CALLS),
            locks: self.locks.clone(),
            started: self.started.clone(),
            allocated: None,
        }
    }
}

/// The last of too many calls.
fn innermost(calls: &[Call], limit: usize) -> Vec<Call> {
    calls[calls.len().saturating_sub(limit)..].to_vec()
}

#[cfg(test)]
mod tests {
    use foretell_trace::Trace;

    use super::*;

    fn around(trace: &Trace, wanted: &[u32]) -> Vec<Surroundings> {
        let ids: Vec<EventId> = wanted.iter().map(|&number| trace.id(number).unwrap()).collect();
        let mut walk = Walk::new(ids.iter().copied());
        walk.batch(EventId::FIRST, trace.events());
        assert!(walk.is_done());
        let found = walk.finish();
        ids.iter().map(|id| found[id].clone()).collect()
    }

    fn functions(trace: &Trace, calls: &[Call]) -> Vec<String> {
        calls.iter().map(|call| trace.names().labels.name(call.function).to_string()).collect()
    }

    #[test]
    fn calls_are_followed_in_and_out() {
        let trace = foretell_testkit::trace(
            "A|enter(main)|1\nA|enter(f)|2\nA|w(x)|3\nA|exit(f)|4\nA|w(x)|5\nA|enter(g)|6\nA|enter(h)|7\n\
             A|exit(main)|8\nA|w(x)|9\n",
        );
        let stacks: Vec<_> =
            around(&trace, &[3, 5, 8, 9]).iter().map(|around| functions(&trace, &around.calls)).collect();
        assert_eq!(stacks, [&["main", "f"][..], &["main"], &["main", "g", "h"], &[]]);
    }

    #[test]
    fn locks_are_held_until_they_are_given_up() {
        let trace = foretell_testkit::trace(
            "A|acq(l)|1\nA|racq(m)|2\nA|acq(l)|3\nA|w(x)|4\nA|rel(l)|5\nA|w(x)|6\nA|rel(l)|7\nA|w(x)|8\n\
             A|rrel(m)|9\nA|w(x)|10\n",
        );
        let held = |around: &Surroundings| -> Vec<(String, LockMode)> {
            let name = |held: &Held| trace.names().locks.name(held.lock).to_string();
            around.locks.iter().map(|held| (name(held), held.mode)).collect()
        };
        let (l, m) = (("l".to_string(), LockMode::Exclusive), ("m".to_string(), LockMode::Shared));
        let all: Vec<_> = around(&trace, &[4, 6, 8, 10]).iter().map(held).collect();
        assert_eq!(all, [vec![l.clone(), m.clone()], vec![l, m.clone()], vec![m], vec![]]);
    }

    #[test]
    fn whoever_starts_a_thread_is_remembered_with_its_calls() {
        let trace = foretell_testkit::trace("A|enter(spawn)|1\nA|fork(B)|2\nA|exit(spawn)|3\nB|w(x)|4\n");
        let [found] = &around(&trace, &[4])[..] else { panic!("one event") };
        let start = found.started.as_ref().unwrap();
        assert_eq!((start.event.number(), functions(&trace, &start.calls)), (2, vec!["spawn".to_string()]));
    }

    #[test]
    fn whoever_allocates_memory_is_remembered_if_that_is_wanted() {
        let trace = foretell_testkit::trace("A|alloc(p)|1\nA|w(p)|2\nA|free(p)|3\nA|alloc(p)|4\nB|w(p)|5\n");
        let ids = [trace.id(2).unwrap(), trace.id(5).unwrap()];
        let vars = ids.map(|id| trace.event(id).op.access().unwrap().var);
        let mut walk = Walk::new(ids).with_memory(vars);
        walk.batch(EventId::FIRST, trace.events());
        let found = walk.finish();
        let events = ids.map(|id| found[&id].allocated.as_ref().unwrap().event.number());
        assert_eq!(events, [1, 4]);
    }

    #[test]
    fn of_deep_stacks_the_innermost_calls_are_kept() {
        let deep: String = (0..100).map(|number| format!("A|enter(f{number})|1\n")).collect();
        let trace = foretell_testkit::trace(&(deep + "A|w(x)|2\n"));
        let [found] = &around(&trace, &[101])[..] else { panic!("one event") };
        let functions = functions(&trace, &found.calls);
        assert_eq!((functions.len(), functions.last().map(String::as_str)), (CALLS, Some("f99")));
    }
}
