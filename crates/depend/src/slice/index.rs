//! What a slice looks up about the whole trace, whatever the property.

use foretell_trace::{Event, EventId, Op, ThreadId, Trace, Value, VarId, ops};
use rustc_hash::FxHashMap;

use super::sections::Sections;
use crate::flow::{Flow, Scope, ScopeId};

/// What is looked up about the trace.
#[derive(Debug)]
pub(super) struct Index {
    /// Lock sections.
    pub(super) sections: Sections,
    /// Per variable, everything that writes it. Giving memory back does not count.
    pub(super) writes: Vec<Vec<EventId>>,
    /// Per variable, the read that shows what it held at the beginning, if that is not the 0 that is assumed otherwise.
    pub(super) shows_initial: Vec<Option<EventId>>,
    /// Per variable, the scopes that may write it.
    scopes: FxHashMap<VarId, Vec<ScopeId>>,
    /// The branches of each scope.
    branches: FxHashMap<ScopeId, Vec<EventId>>,
    /// Events that every slice keeps, by themselves and not for what depends on them.
    pub(super) always: Vec<EventId>,
    /// Per thread, its branches whose untaken sides may stop it, or do something unknown.
    pub(super) stopping: Vec<Vec<EventId>>,
    /// Events whose target was computed from a read.
    pub(super) addressed: Vec<EventId>,
    /// Accesses of memory that comes or goes during the trace.
    pub(super) fleeting: Vec<EventId>,
    /// The last event that no recorded write explains.
    pub(super) last_unexplained: Option<EventId>,
    /// Per thread, its reads.
    pub(super) reads: Vec<Vec<EventId>>,
}

impl Index {
    /// Goes through the trace.
    pub(super) fn new(trace: &Trace, flow: Option<&Flow>) -> Index {
        let vars = trace.names().vars.len();
        let mut index = Index {
            sections: Sections::new(trace),
            writes: vec![Vec::new(); vars],
            shows_initial: vec![None; vars],
            scopes: FxHashMap::default(),
            branches: FxHashMap::default(),
            always: Vec::new(),
            stopping: vec![Vec::new(); trace.thread_count()],
            addressed: Vec::new(),
            fleeting: Vec::new(),
            last_unexplained: None,
            reads: vec![Vec::new(); trace.thread_count()],
        };
        index.take_up_accesses(trace);
        index.take_up_what_stays(trace);
        index.take_up_branches(trace, flow);
        index.take_up_addresses(trace, flow);
        index
    }

    /// The branches that have a way on which the variable may be written.
    pub(super) fn branches_that_may_write(&self, var: VarId) -> impl Iterator<Item = EventId> {
        let scopes = self.scopes.get(&var).into_iter().flatten();
        scopes.filter_map(|scope| self.branches.get(scope)).flatten().copied()
    }

    fn take_up_accesses(&mut self, trace: &Trace) {
        for (id, event) in trace.iter() {
            if event.unexplained {
                self.last_unexplained = Some(id);
            }
            let (Some(access), false) = (event.op.access(), matches!(event.op, Op::Free(_))) else {
                continue;
            };
            if access.kind.reads() {
                self.reads[event.thread.index()].push(id);
                let (first, seen) = (&mut self.shows_initial[access.var.index()], event.op.value_read());
                if self.writes[access.var.index()].is_empty() && seen.is_some_and(|seen| seen != Value::ZERO)
                {
                    first.get_or_insert(id);
                }
            }
            if access.kind.writes() {
                self.writes[access.var.index()].push(id);
            }
        }
    }

    fn take_up_what_stays(&mut self, trace: &Trace) {
        let mut last: Vec<Option<EventId>> = vec![None; trace.thread_count()];
        let mut awaited: Vec<ThreadId> = Vec::new();
        for (id, event) in trace.iter() {
            last[event.thread.index()] = Some(id);
            if let Op::Join(child) = event.op {
                awaited.push(child);
            }
            if always_stays(event.op) {
                self.always.push(id);
            }
        }
        // A join waits for all events of the joined thread.
        self.always.extend(awaited.into_iter().filter_map(|thread| last[thread.index()]));
    }

    fn take_up_branches(&mut self, trace: &Trace, flow: Option<&Flow>) {
        for (id, event) in trace.iter().filter(|(_, event)| event.op == Op::Branch) {
            let scope = flow.and_then(|flow| flow.of(id).scope.map(|scope| (scope, flow.scope(scope))));
            match scope {
                Some((scope, Scope { writes, may_stop: false })) => {
                    let branches = self.branches.entry(scope).or_default();
                    if branches.is_empty() {
                        for &var in writes {
                            self.scopes.entry(var).or_default().push(scope);
                        }
                    }
                    branches.push(id);
                }
                _ => self.stopping[event.thread.index()].push(id),
            }
        }
    }

    fn take_up_addresses(&mut self, trace: &Trace, flow: Option<&Flow>) {
        let computed = |&(id, _): &(EventId, Event)| flow.is_some_and(|flow| flow.of(id).address.is_some());
        self.addressed = trace.iter().filter(computed).map(|(id, _)| id).collect();
        let mut comes_or_goes = vec![false; trace.names().vars.len()];
        for event in trace.events() {
            if let Op::Alloc(var) | Op::Free(var) = event.op {
                comes_or_goes[var.index()] = true;
            }
        }
        let fleeting =
            |event: Event| event.op.access().is_some_and(|access| comes_or_goes[access.var.index()]);
        self.fleeting = trace.iter().filter(|&(_, event)| fleeting(event)).map(|(id, _)| id).collect();
    }
}

/// Whether no slice drops such an operation: it blocks or wakes other threads, other than by a critical section.
fn always_stays(op: Op) -> bool {
    match op {
        Op::Fork(_) | Op::Join(_) | Op::Alloc(_) | Op::Free(_) | Op::Fence { .. } => true,
        ops!(attempts | semaphores | conditions | barriers) => true,
        Op::Begin | Op::End | Op::Branch | ops!(accesses | sections | reentries | labels) => false,
    }
}
