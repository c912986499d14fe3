//! What a trace says beyond its events, found once and looked up for every pair: who read from whom, which release ends
//! which section, who woke whom, what was where at which time.
//!
//! The referee has its own code for the same purpose, on purpose.

mod meetings;

use foretell_trace::{Event, Model, Op, Trace, Value, VarId, ops};
use rustc_hash::FxHashMap;

pub(crate) use self::meetings::{Gathering, Unknown};
use crate::flow::Flow;
use crate::part::Part;
use crate::settled::settled_reads;
use crate::spin_locks::SpinLocks;
use crate::values::pinned;

/// Stands for "no event": the initial content of a variable, a section that never ends, a thread without fork.
pub(crate) const NONE: u32 = u32::MAX;

/// A trace with its cross references. Events are named by their index in the trace.
#[derive(Debug)]
pub(crate) struct Index<'t> {
    pub(crate) trace: &'t Trace,
    /// Where each event stands among those of its thread.
    pub(crate) place: Vec<u32>,
    /// The events of each thread.
    pub(crate) threads: Vec<Vec<u32>>,
    /// For a read: the write that it saw, or [`NONE`]. For a return from a wait: a notification that explains it, or
    /// [`NONE`]. For an arrival or a departure: its generation. Otherwise meaningless.
    source: Vec<u32>,
    /// For the beginning of a section: its end, or [`NONE`]. Otherwise meaningless.
    mate: Vec<u32>,
    /// For each thread, which sections it is in.
    held: Vec<HeldSections>,
    vars: Vec<IndexedVariable>,
    /// For each value of each variable, where the list of its writers begins in `writers`.
    values: FxHashMap<(VarId, Value), u32>,
    writers: Vec<WritingThread>,
    /// The writes of each of these, one after the other.
    written: Vec<u32>,
    /// The fork of each thread, or [`NONE`].
    forks: Vec<u32>,
    sems: Vec<IndexedSemaphore>,
    /// For each condition, how many notifications there are.
    notified: Vec<u32>,
    /// For each barrier and generation, the arrivals.
    generations: Vec<Vec<Vec<u32>>>,
    /// For each barrier, who meets whom.
    gathering: Vec<Gathering>,
    unknown: Unknown,
    /// Set if this is a part of a longer trace: what happens elsewhere is not known.
    pub(crate) part: Option<Part>,
    /// The events that no recorded write explains.
    pub(crate) fences: Vec<u32>,
    /// Which reads matter to what, if the trace tells.
    pub(crate) flow: Option<Flow<'t>>,
    /// Of reads that may see anything, the first event that needs them to see what they saw, see
    /// [`crate::values::pinned`]; empty unless asked for.
    pub(crate) pinned: Vec<u32>,
    /// The locks that are made of atomic variables, if asked for.
    pub(crate) spin_locks: SpinLocks,
}

/// What is known of a variable.
#[derive(Clone, Debug)]
struct IndexedVariable {
    /// The events that change its content.
    writes: Vec<u32>,
    /// The same by thread.
    writes_of: Vec<(usize, Vec<u32>)>,
    /// What it holds at first, where that is known.
    initial: Option<Value>,
    /// Its allocation, or [`NONE`].
    alloc: u32,
}

/// A thread that writes a certain value to a certain variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritingThread {
    pub(crate) thread: u32,
    /// Its first and its last write of the value.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// Where its writes of the value begin in `written`, and how many they are.
    begin: u32,
    count: u32,
    /// Where the next writer of the value is, or [`NONE`].
    next: u32,
}

/// What is known of a semaphore.
#[derive(Clone, Debug, Default)]
struct IndexedSemaphore {
    /// Its operations, each with the permits before it; `None` before the semaphore is created.
    ops: Vec<(u32, Option<u64>)>,
    /// The permits after all of them.
    at_last: Option<u64>,
}

/// Which sections a thread is in, as it changes. A thread may be in many at once, so not every change keeps them all.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldSections {
    changes: Vec<SectionChange>,
    /// After how many changes the sections were kept in full, and where they begin and end in `kept`.
    full: Vec<(usize, usize, usize)>,
    kept: Vec<u32>,
}

/// A section begins or ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionChange {
    pub(crate) place: u32,
    /// The section, by its first event or by its number.
    pub(crate) section: u32,
    pub(crate) begins: bool,
}

/// What a read must see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MustSee {
    /// Whatever is there: an external write came just before.
    Anything,
    /// This value, from any writer.
    Value(Value),
    /// This write, or the initial content.
    Write(u32),
}

/// What a variable holds at some point of the observed run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ObservedContent {
    /// Who wrote it, or [`NONE`].
    pub(crate) writer: u32,
    /// Its value, where that is known.
    pub(crate) value: Option<Value>,
}

impl<'t> Index<'t> {
    pub(crate) fn new(trace: &'t Trace, unknown: Unknown) -> Index<'t> {
        let names = trace.names();
        let events = trace.events().len();
        let mut index = Index {
            trace,
            place: Vec::with_capacity(events),
            threads: vec![Vec::new(); trace.thread_count()],
            source: vec![NONE; events],
            mate: vec![NONE; events],
            held: vec![HeldSections::default(); trace.thread_count()],
            vars: vec![IndexedVariable::default(); names.vars.len()],
            values: FxHashMap::default(),
            writers: Vec::new(),
            written: Vec::new(),
            forks: vec![NONE; trace.thread_count()],
            sems: vec![IndexedSemaphore::default(); names.sems.len()],
            notified: vec![0; names.conds.len()],
            generations: vec![vec![Vec::new()]; names.barriers.len()],
            gathering: Vec::new(),
            unknown,
            part: None,
            fences: Vec::new(),
            flow: Flow::new(trace),
            pinned: Vec::new(),
            spin_locks: SpinLocks::default(),
        };
        index.go_through_threads();
        index.go_through_memory();
        index.go_through_sections();
        index.go_through_semaphores();
        index.go_through_barriers();
        index.go_through_notifications();
        index
    }

    /// Takes note that this may be a part of a longer trace.
    pub(crate) fn set_part(&mut self, part: Option<Part>) {
        self.part = part;
    }

    /// Finds the locks that are made of atomic variables, for schedules that pin reads like this.
    pub(crate) fn find_spin_locks(&mut self, model: Model, all_pinned: bool) {
        self.spin_locks = SpinLocks::find(self, model, all_pinned);
    }

    /// Finds out which reads must see what they saw though reads may see anything.
    pub(crate) fn pin_reads(&mut self) {
        if let Some(values) = self.trace.values() {
            self.pinned = pinned(self, values);
        }
    }

    /// Forgets of all reads that find the same value in every schedule that they matter to anything.
    pub(crate) fn let_settled_reads_go(&mut self) {
        if let Some(dependence) = self.trace.dependence() {
            let settled = settled_reads(self, dependence);
            if let Some(flow) = &mut self.flow {
                flow.let_go(settled);
            }
        }
    }

    pub(crate) fn len(&self) -> u32 {
        // A trace has fewer than 2^32 events.
        u32::try_from(self.trace.events().len()).unwrap_or(NONE)
    }

    pub(crate) fn event(&self, event: u32) -> &'t Event {
        &self.trace.events()[event as usize]
    }

    /// The end of the section that begins at `event`, or [`NONE`].
    pub(crate) fn section_end(&self, event: u32) -> u32 {
        self.mate[event as usize]
    }

    /// The events of other threads that must have run before the event, in every schedule.
    pub(crate) fn for_each_need(&self, event: u32, mut need: impl FnMut(u32)) {
        self.for_each_need_to_begin(event, &mut need);
        let step = self.event(event);
        let mut known = |other: u32| {
            if other != NONE && other < event {
                need(other);
            }
        };
        match step.op {
            Op::Join(child) => {
                known(self.forks[child.index()]);
                known(self.threads[child.index()].last().copied().unwrap_or(NONE));
            }
            Op::Arrive(_) | Op::Depart(_) if self.waits_as_observed(event) => {
                self.arrivals_before(event).iter().copied().for_each(known);
            }
            Op::Woken { .. } => known(self.only_notification(event)),
            Op::SemPost(sem) | Op::SemWait(sem) => known(self.creation(sem.index())),
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. }
            | Op::Free(var) => known(self.vars[var.index()].alloc),
            Op::Fork(_) | Op::Begin | Op::End | Op::Branch => {}
            Op::Wait { .. } | Op::WaitTimeout { .. } | Op::Notify(_) | Op::NotifyAll(_) => {}
            Op::Fence { .. } | Op::Alloc(_) | Op::SemInit { .. } | ops!(locks | barriers | labels) => {}
        }
    }

    /// The same for a thread just to come to the event, and to wait there if need be.
    pub(crate) fn for_each_need_to_begin(&self, event: u32, mut need: impl FnMut(u32)) {
        let fork = self.forks[self.event(event).thread.index()];
        if self.place[event as usize] == 0 && fork != NONE && fork < event {
            need(fork);
        }
    }

    /// What the read must see for its thread to go on as observed: the same write, or just the same value where the
    /// trace shows values.
    pub(crate) fn seen(&self, read: u32, same_write: bool) -> MustSee {
        let event = self.event(read);
        let source = self.source[read as usize];
        if event.unexplained {
            return MustSee::Anything;
        }
        match event.op.value_read() {
            Some(value) if !same_write && (source == NONE || self.value_after(source).is_some()) => {
                MustSee::Value(value)
            }
            _ => MustSee::Write(source),
        }
    }

    /// The writes to the variable, by thread.
    pub(crate) fn writes_of(&self, var: VarId) -> &[(usize, Vec<u32>)] {
        &self.vars[var.index()].writes_of
    }

    /// The writes of each thread to each variable.
    pub(crate) fn write_lists(&self) -> impl Iterator<Item = &[u32]> {
        self.vars.iter().flat_map(|variable| &variable.writes_of).map(|(_, writes)| &writes[..])
    }

    /// The threads that write the value to the variable.
    pub(crate) fn writers(&self, var: VarId, value: Value) -> impl Iterator<Item = WritingThread> {
        let mut next = self.values.get(&(var, value)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let writer = *self.writers.get(next as usize)?;
            next = writer.next;
            Some(writer)
        })
    }

    /// What the thread writes of the value, in its order.
    pub(crate) fn writes_by(&self, writer: WritingThread) -> &[u32] {
        &self.written[writer.begin as usize..][..writer.count as usize]
    }

    /// Whether the variable holds the value at first.
    pub(crate) fn is_initial(&self, var: VarId, value: Value) -> bool {
        self.vars[var.index()].initial == Some(value)
    }

    /// The creation of a semaphore, or [`NONE`] if the trace does not show it.
    fn creation(&self, sem: usize) -> u32 {
        let first = self.sems[sem].ops.first().map_or(NONE, |op| op.0);
        if first != NONE && matches!(self.event(first).op, Op::SemInit { .. }) { first } else { NONE }
    }

    /// The value that a write leaves behind, where the trace shows it.
    pub(crate) fn value_after(&self, write: u32) -> Option<Value> {
        let op = self.event(write).op;
        match op.access() {
            // A read that nothing explains stands for the write that it saw.
            Some(access) if !access.kind.writes() => op.value_read(),
            _ => op.value_written(),
        }
    }

    /// Whether the event changes what its variable holds.
    pub(crate) fn changes_memory(&self, event: u32) -> Option<VarId> {
        let event = self.event(event);
        let access = event.op.access()?;
        let changes = access.kind.writes() && !matches!(event.op, Op::Free(_));
        (changes || event.unexplained).then_some(access.var)
    }

    /// What the variable holds in the observed run before `event`.
    pub(crate) fn content(&self, var: VarId, event: u32) -> ObservedContent {
        let variable = &self.vars[var.index()];
        match variable.writes.partition_point(|&write| write < event).checked_sub(1) {
            None => ObservedContent { writer: NONE, value: variable.initial },
            Some(last) => {
                let writer = variable.writes[last];
                ObservedContent { writer, value: self.value_after(writer) }
            }
        }
    }

    /// The sections that the thread is in after so many of its events, by their beginnings.
    pub(crate) fn sections_after(&self, thread: usize, count: u32) -> Vec<u32> {
        self.held[thread].after(count)
    }

    /// The permits of a semaphore in the observed run before `event`.
    pub(crate) fn permits(&self, sem: usize, event: u32) -> Option<u64> {
        let sem = &self.sems[sem];
        let next = sem.ops.partition_point(|op| op.0 < event);
        sem.ops.get(next).map_or(sem.at_last, |op| op.1)
    }

    fn indexed(&self) -> impl Iterator<Item = (u32, &'t Event)> + use<'t> {
        (0u32..).zip(self.trace.events())
    }

    fn go_through_threads(&mut self) {
        for (index, event) in self.indexed() {
            let thread = &mut self.threads[event.thread.index()];
            // A thread has no more events than the trace.
            self.place.push(u32::try_from(thread.len()).unwrap_or(NONE));
            thread.push(index);
            if let Op::Fork(child) = event.op {
                self.forks[child.index()] = index;
            }
            if event.unexplained {
                self.fences.push(index);
            }
        }
    }

    fn go_through_memory(&mut self) {
        let mut written = Vec::new();
        for (index, event) in self.indexed() {
            if let Op::Alloc(var) = event.op {
                self.vars[var.index()].alloc = index;
            }
            let Some(access) = event.op.access() else { continue };
            let changes = self.changes_memory(index).is_some();
            let variable = &mut self.vars[access.var.index()];
            if access.kind.reads() && !event.unexplained {
                self.source[index as usize] = variable.writes.last().copied().unwrap_or(NONE);
                if variable.writes.is_empty() && variable.initial.is_none() {
                    variable.initial = event.op.value_read();
                }
            }
            if changes {
                variable.writes.push(index);
                let thread = event.thread.index();
                match variable.writes_of.iter_mut().find(|of| of.0 == thread) {
                    Some(of) => of.1.push(index),
                    None => variable.writes_of.push((thread, vec![index])),
                }
                if let Some(value) = self.value_after(index) {
                    written.push((index, self.note_writer(access.var, value, index)));
                }
            }
        }
        self.sort_writes(&written);
        for variable in &mut self.vars {
            // Memory that no read shows in its initial state holds 0, but for allocated memory, which may hold
            // anything.
            if variable.initial.is_none() && variable.alloc == NONE {
                variable.initial = Some(Value::ZERO);
            }
        }
    }

    /// Takes note of a write, and tells the place of its writer in `writers`.
    fn note_writer(&mut self, var: VarId, value: Value, write: u32) -> u32 {
        // There are fewer threads, and fewer writers, than events.
        let thread = u32::try_from(self.event(write).thread.index()).unwrap_or(NONE);
        let end = u32::try_from(self.writers.len()).unwrap_or(NONE);
        let head = self.values.entry((var, value)).or_insert(end);
        let mut at = *head;
        while let Some(writer) = self.writers.get_mut(at as usize) {
            if writer.thread == thread {
                writer.last = write;
                writer.count += 1;
                return at;
            }
            at = writer.next;
        }
        let next = if *head == end { NONE } else { *head };
        self.writers.push(WritingThread { thread, first: write, last: write, begin: 0, count: 1, next });
        *head = end;
        end
    }

    /// Gives each writer its writes, of all those that show their value.
    fn sort_writes(&mut self, written: &[(u32, u32)]) {
        let mut begin = 0;
        for writer in &mut self.writers {
            writer.begin = begin;
            begin += std::mem::take(&mut writer.count);
        }
        self.written = vec![NONE; written.len()];
        for &(write, writer) in written {
            let writer = &mut self.writers[writer as usize];
            self.written[(writer.begin + writer.count) as usize] = write;
            writer.count += 1;
        }
    }

    fn go_through_sections(&mut self) {
        let mut open: Vec<Vec<u32>> = vec![Vec::new(); self.threads.len()];
        for (index, event) in self.indexed() {
            let thread = event.thread.index();
            let (section, begins) = if event.op.section_begin().is_some() {
                open[thread].push(index);
                (index, true)
            } else if let Some(ended) = event.op.section_end() {
                let begun = |&begin: &u32| self.event(begin).op.section_begin() == Some(ended);
                let Some(which) = open[thread].iter().rposition(begun) else { continue };
                let begin = open[thread].remove(which);
                self.mate[begin as usize] = index;
                (begin, false)
            } else {
                continue;
            };
            let change = SectionChange { place: self.place[index as usize], section, begins };
            self.held[thread].change(change, &open[thread]);
        }
    }

    fn go_through_semaphores(&mut self) {
        let mut used = vec![0i64; self.sems.len()];
        let mut least = vec![Some(0u64); self.sems.len()];
        for event in self.trace.events() {
            match event.op {
                Op::SemInit { sem, .. } => least[sem.index()] = None,
                Op::SemPost(sem) => used[sem.index()] -= 1,
                Op::SemWait(sem) => {
                    used[sem.index()] += 1;
                    let used = u64::try_from(used[sem.index()]).unwrap_or(0);
                    least[sem.index()] = least[sem.index()].map(|least| least.max(used));
                }
                ops!(memory | locks | control | conditions | barriers | labels) => {}
            }
        }
        for (sem, least) in self.sems.iter_mut().zip(least) {
            sem.at_last = least;
        }
        for (index, event) in self.indexed() {
            let (Op::SemInit { sem, .. } | Op::SemPost(sem) | Op::SemWait(sem)) = event.op else { continue };
            let sem = &mut self.sems[sem.index()];
            sem.ops.push((index, sem.at_last));
            sem.at_last = permits_after(event.op, sem.at_last);
        }
    }
}

/// How an operation changes the permits of its semaphore.
pub(crate) fn permits_after(op: Op, permits: Option<u64>) -> Option<u64> {
    match op {
        Op::SemInit { permits, .. } => Some(u64::from(permits)),
        Op::SemPost(_) => permits.map(|permits| permits.saturating_add(1)),
        Op::SemWait(_) => permits.map(|permits| permits.saturating_sub(1)),
        ops!(memory | locks | control | conditions | barriers | labels) => permits,
    }
}

impl Default for IndexedVariable {
    fn default() -> IndexedVariable {
        IndexedVariable { writes: Vec::new(), writes_of: Vec::new(), initial: None, alloc: NONE }
    }
}

impl HeldSections {
    /// The sections of one thread that begin and end like this.
    pub(crate) fn of(mut changes: Vec<SectionChange>) -> HeldSections {
        changes.sort_unstable_by_key(|change| (change.place, change.begins));
        let (mut held, mut open) = (HeldSections::default(), Vec::new());
        for change in changes {
            if change.begins {
                open.push(change.section);
            } else {
                open.retain(|&section| section != change.section);
            }
            held.change(change, &open);
        }
        held
    }

    /// A section begins or ends; `all` are those that the thread is in then.
    fn change(&mut self, change: SectionChange, all: &[u32]) {
        self.changes.push(change);
        let since = self.changes.len() - self.full.last().map_or(0, |full| full.0);
        // As many changes as there are sections: so keeping them costs no more than the changes do.
        if since > all.len().max(16) {
            self.full.push((self.changes.len(), self.kept.len(), self.kept.len() + all.len()));
            self.kept.extend_from_slice(all);
        }
    }

    pub(crate) fn after(&self, count: u32) -> Vec<u32> {
        let changes = self.changes.partition_point(|change| change.place < count);
        let full =
            self.full.partition_point(|full| full.0 <= changes).checked_sub(1).map(|last| self.full[last]);
        let (from, mut sections) =
            full.map_or((0, Vec::new()), |(from, begin, end)| (from, self.kept[begin..end].to_vec()));
        for change in &self.changes[from..changes] {
            if change.begins {
                sections.push(change.section);
            } else {
                sections.retain(|&section| section != change.section);
            }
        }
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread takes all locks, then gives them back, the last or the first one first.
    fn nested(locks: usize, last_first: bool) -> Trace {
        let acquires = (0..locks).map(|lock| format!("t|acq(l{lock})|1\n"));
        let releases = (0..locks).map(|lock| if last_first { locks - 1 - lock } else { lock });
        let text: String = acquires.chain(releases.map(|lock| format!("t|rel(l{lock})|2\n"))).collect();
        foretell_testkit::trace(&text)
    }

    #[test]
    fn sections_are_known_at_every_place() {
        for last_first in [false, true] {
            let trace = nested(100, last_first);
            let index = Index::new(&trace, Unknown::AsRecorded);
            let mut open: Vec<u32> = Vec::new();
            for event in 0..index.len() {
                assert_eq!(index.sections_after(0, event), open);
                if event < 100 {
                    open.push(event);
                } else {
                    open.retain(|&begin| index.section_end(begin) != event);
                }
            }
            assert!(index.sections_after(0, index.len()).is_empty());
        }
    }

    #[test]
    fn many_sections_at_once_cost_no_more_than_their_number() {
        for last_first in [false, true] {
            let trace = nested(5000, last_first);
            let index = Index::new(&trace, Unknown::AsRecorded);
            let kept = index.held[0].kept.len();
            assert!(kept <= 2 * trace.events().len(), "{kept}");
        }
    }
}
