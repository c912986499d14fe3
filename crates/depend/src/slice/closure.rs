//! Which events a property needs: the closure of its events under the clauses of a [`Rule`].
//!
//! An event is *kept* if the sliced trace shows it. A read is *pinned* if, besides, what it sees matters to something
//! that is kept; then its variable is *watched*: every write to it is kept, and so is what these values come from.
//! Whatever becomes kept is put on a list, and what it needs in turn is found when its turn comes.

use foretell_trace::{AccessKind, EventId, LockId, Op, Trace, VarId};
use rustc_hash::FxHashSet;

use super::horizon::Horizon;
use super::index::Index;
use super::{Property, Rule};
use crate::flow::{Flow, Node, NodeId};

/// A slice in the making.
pub(super) struct Closure<'a> {
    trace: &'a Trace,
    flow: Option<&'a Flow>,
    index: &'a Index,
    rule: Rule,
    horizon: Horizon,
    /// Per event, whether it is kept.
    kept: Vec<bool>,
    /// Per event, whether it is a read that is pinned.
    pinned: Vec<bool>,
    /// Per variable, whether a pinned read reads it.
    watched: Vec<bool>,
    /// Per section, whether it is kept.
    sections: Vec<bool>,
    /// Values whose reads are pinned.
    values: FxHashSet<NodeId>,
    /// Per thread, how many of its reads are pinned because anything may depend on them: the first ones.
    first_reads: Vec<usize>,
    /// Per thread, how many of its decisions that may stop it are kept because something that follows is: the first
    /// ones.
    first_stopping: Vec<usize>,
    /// Kept events whose own needs are still to be looked at.
    open: Vec<EventId>,
    /// Watched variables whose writes are still to be kept.
    newly_watched: Vec<VarId>,
}

impl<'a> Closure<'a> {
    /// Keeps what the property needs.
    pub(super) fn of(
        trace: &'a Trace,
        flow: Option<&'a Flow>,
        index: &'a Index,
        property: &Property,
        rule: Rule,
    ) -> Closure<'a> {
        let events = trace.events().len();
        let mut closure = Closure {
            trace,
            flow,
            index,
            rule,
            horizon: Horizon::new(trace, property, rule),
            kept: vec![false; events],
            pinned: vec![false; events],
            watched: vec![false; trace.names().vars.len()],
            sections: vec![false; index.sections.all.len()],
            values: FxHashSet::default(),
            first_reads: vec![0; trace.thread_count()],
            first_stopping: vec![0; trace.thread_count()],
            open: Vec::new(),
            newly_watched: Vec::new(),
        };
        for event in property.known(trace) {
            closure.keep(event);
        }
        closure.seed();
        closure.run();
        closure
    }

    /// The events that are kept.
    pub(super) fn kept(&self) -> impl Iterator<Item = EventId> {
        self.trace.iter().map(|(id, _)| id).filter(|id| self.kept[id.index()])
    }

    /// Whether the value that the event shows is none that the sliced trace explains: a read that matters only because
    /// it happens, of a variable whose writes are not all kept.
    pub(super) fn hides_value(&self, event: EventId) -> bool {
        let access = self.trace.event(event).op.access();
        access.is_some_and(|access| access.kind == AccessKind::Read && !self.watched[access.var.index()])
    }

    /// What is kept whatever the property.
    fn seed(&mut self) {
        for &event in &self.index.always {
            self.keep(event);
        }
        self.keep_all_before_unexplained();
        if self.rule == Rule::Sound {
            self.keep_what_may_stop();
            self.keep_addresses();
            self.keep_open_sections();
        }
    }

    /// The writer of a value that no recorded write explains may have read anything before, so all of that must be as
    /// observed.
    fn keep_all_before_unexplained(&mut self) {
        let Some(last) = self.index.last_unexplained else { return };
        for (id, event) in self.trace.iter().take_while(|&(id, _)| id <= last) {
            self.keep(id);
            if event.op.access().is_some_and(|access| access.kind.reads()) {
                self.pin(id);
            }
        }
    }

    /// A branch that could have stopped its thread must go as observed for the thread to continue.
    fn keep_what_may_stop(&mut self) {
        for &branch in self.index.stopping.iter().flatten() {
            if self.may_run(branch) {
                self.keep(branch);
            }
        }
    }

    /// An access that is dropped happens all the same. It must not hit other memory than observed, which might be
    /// watched, might not exist, or might no longer exist.
    fn keep_addresses(&mut self) {
        for &event in &self.index.addressed {
            if self.may_run(event) {
                self.pin_address(event);
            }
        }
        for &event in &self.index.fleeting {
            self.keep(event);
            if self.may_run(event)
                && self.trace.event(event).op.access().is_some_and(|access| access.kind.reads())
            {
                self.pin(event);
            }
        }
    }

    /// A section without end may keep its lock for ever.
    fn keep_open_sections(&mut self) {
        for section in &self.index.sections.all {
            if !section.ends && section.events.first().is_some_and(|&begin| self.may_run(begin)) {
                self.keep_lock(section.lock);
            }
        }
    }

    fn run(&mut self) {
        loop {
            if let Some(event) = self.open.pop() {
                self.keep_needs(event);
            } else if let Some(var) = self.newly_watched.pop() {
                self.keep_writes(var);
            } else {
                return;
            }
        }
    }

    /// Keeps what a kept event needs. One that no schedule of interest runs needs nothing: it is there only so that
    /// the observed run can be understood.
    fn keep_needs(&mut self, event: EventId) {
        self.keep_sections(event);
        if !self.may_run(event) {
            return;
        }
        self.keep_control(event);
        self.pin_address(event);
        let op = self.trace.event(event).op;
        if op == Op::Branch {
            self.pin_value(event);
        }
        let Some(access) = op.access() else { return };
        if access.kind.writes() && (self.rule == Rule::Published || self.watched[access.var.index()]) {
            self.pin_value(event);
        }
        if access.kind == AccessKind::Update || (self.rule == Rule::Published && access.kind.reads()) {
            self.pin(event);
        }
    }

    fn keep(&mut self, event: EventId) {
        if let Some(kept) = self.kept.get_mut(event.index())
            && !*kept
        {
            *kept = true;
            self.open.push(event);
        }
    }

    /// The read must see what it saw.
    fn pin(&mut self, read: EventId) {
        self.keep(read);
        if let Some(pinned) = self.pinned.get_mut(read.index())
            && !std::mem::replace(pinned, true)
            && let Some(access) = self.trace.event(read).op.access()
            && !std::mem::replace(&mut self.watched[access.var.index()], true)
        {
            self.newly_watched.push(access.var);
        }
    }

    /// What a watched variable holds must be what the sliced trace says at every time.
    fn keep_writes(&mut self, var: VarId) {
        if let Some(first) = self.index.shows_initial[var.index()] {
            self.pin(first);
        }
        for &write in &self.index.writes[var.index()] {
            self.keep(write);
            if self.may_run(write) {
                self.pin_value(write);
            }
        }
        if self.rule == Rule::Sound {
            for branch in self.index.branches_that_may_write(var) {
                if self.may_run(branch) {
                    self.keep(branch);
                }
            }
        }
    }

    /// Keeps the decision that led to the event; that one's own decision follows when its turn comes.
    fn keep_control(&mut self, event: EventId) {
        match self.flow {
            Some(flow) => {
                if let Some(branch) = flow.of(event).control {
                    self.keep(branch);
                }
                self.keep_earlier_stopping(event);
            }
            // A trace that shows branches shows all that matter, and those are kept anyway.
            None if self.trace.has_branches() => {}
            None => self.pin_earlier_reads(event),
        }
    }

    fn pin_address(&mut self, event: EventId) {
        if let Some(address) = self.flow.and_then(|flow| flow.of(event).address) {
            self.pin_reads(address);
        }
    }

    /// Pins what a write stores, or a branch decides on.
    fn pin_value(&mut self, event: EventId) {
        match self.flow {
            Some(flow) => {
                if let Some(value) = flow.of(event).value {
                    self.pin_reads(value);
                }
            }
            None => self.pin_earlier_reads(event),
        }
    }

    /// Pins the reads that a value was computed from.
    fn pin_reads(&mut self, value: NodeId) {
        let Some(flow) = self.flow else { return };
        let mut open = vec![value];
        while let Some(id) = open.pop() {
            if !self.values.insert(id) {
                continue;
            }
            match flow.node(id) {
                Node::Constant(_) => {}
                Node::Read(event) => self.pin(event),
                Node::Unary(_, of) => open.push(of),
                Node::Binary(_, left, right) => open.extend([left, right]),
                Node::Chosen { by, value } => open.extend([by, value]),
            }
        }
    }

    /// A decision also controls what follows if one of its ways may not come that far. (The sound rule keeps it
    /// anyway.)
    fn keep_earlier_stopping(&mut self, event: EventId) {
        let thread = self.trace.event(event).thread.index();
        let index = self.index;
        while let Some(&branch) = index.stopping[thread].get(self.first_stopping[thread])
            && branch < event
        {
            self.first_stopping[thread] += 1;
            self.keep(branch);
        }
    }

    /// What the event depends on is unknown, so it depends on all that its thread has read before.
    fn pin_earlier_reads(&mut self, event: EventId) {
        let thread = self.trace.event(event).thread.index();
        let index = self.index;
        while let Some(&read) = index.reads[thread].get(self.first_reads[thread])
            && read < event
        {
            self.first_reads[thread] += 1;
            self.pin(read);
        }
    }

    /// Keeps the sections that the event lies in, and those of a lock that it failed to take. An event that no schedule
    /// of interest runs keeps just the sections that it begins or ends, for readability.
    fn keep_sections(&mut self, event: EventId) {
        let (sections, may_run) = (&self.index.sections, self.may_run(event));
        for &section in sections.around(event) {
            if may_run || sections.all[section].events.contains(&event) {
                self.keep_section(section);
            }
        }
        if let Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) = self.trace.event(event).op {
            self.keep_lock(lock);
        }
    }

    /// Sections exclude each other, whatever is in them: if one is kept, so are all of its lock.
    fn keep_section(&mut self, section: usize) {
        match self.rule {
            Rule::Sound => self.keep_lock(self.index.sections.all[section].lock),
            Rule::Published => self.keep_events_of(section),
        }
    }

    fn keep_lock(&mut self, lock: LockId) {
        let index = self.index;
        for &section in index.sections.of_lock(lock) {
            self.keep_events_of(section);
        }
    }

    fn keep_events_of(&mut self, section: usize) {
        if !std::mem::replace(&mut self.sections[section], true) {
            let index = self.index;
            for &event in &index.sections.all[section].events {
                self.keep(event);
            }
        }
    }

    /// Whether a schedule of interest may run the event, or come to it.
    fn may_run(&self, event: EventId) -> bool {
        let event_of = self.trace.events().get(event.index());
        event_of.is_some_and(|known| self.horizon.contains(known.thread, event))
    }
}
