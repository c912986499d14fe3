//! Locks that a program makes of an atomic variable: test-and-set, compare-and-swap and the like.
//!
//! A thread takes such a lock by a read-modify-write that must see the *free* value and leaves another one, and
//! releases it by a write of the free value. The variable is a lock if all of this holds in the trace:
//! * it is free when there is only one thread;
//! * every later write of the free value is a release: its thread holds the lock, taken by the last acquire;
//! * every acquire is pinned before its release: some event between the two runs only if the acquire saw what it saw.
//!
//! Then two critical sections never overlap once both acquires are pinned, in *every* schedule of the model. Proof:
//! take the earliest acquire `b` that sees the free value while another section, begun by `a`, is open. The last write
//! before `b` is one of the free value, after `a`. It is a release `r` of a third section, begun by `c`. If `c` comes
//! before `a`, then `a` was an earlier acquire inside an open section; if after, `c` was. Either contradicts the choice
//! of `b`. Values that are not free do not matter to this argument, so failed attempts that write (an exchange in a
//! loop) are harmless.
//!
//! The closure treats these critical sections as it treats those of mutexes. A search over the sources of each read
//! would need exponentially many steps to find out the same.

use foretell_trace::{Model, Op, Value, VarId};
use rustc_hash::FxHashMap;

use crate::index::{HeldSections, Index, NONE, SectionChange};

/// A critical section of a lock that is made of an atomic variable, by the indices of its events in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpinSection {
    /// Which of the locks it is.
    pub(crate) lock: u32,
    pub(crate) thread: u32,
    /// The acquire.
    pub(crate) acquire: u32,
    /// The first event that runs only if the acquire saw the free value.
    pub(crate) begin: u32,
    /// The release, or [`NONE`].
    pub(crate) end: u32,
}

/// The locks of a trace that are made of atomic variables.
#[derive(Debug, Default)]
pub(crate) struct SpinLocks {
    /// The variable that each lock is made of.
    pub(crate) words: Vec<VarId>,
    /// Sorted by `begin`.
    sections: Vec<SpinSection>,
    /// For each thread, which sections it is in, by their numbers.
    held: Vec<HeldSections>,
}

impl SpinLocks {
    /// Finds them. With `all_pinned`, every read that runs is pinned, whatever the model says.
    pub(crate) fn find(index: &Index<'_>, model: Model, all_pinned: bool) -> SpinLocks {
        let begins = Begins::new(index, model, all_pinned);
        let mut words: Vec<LockCandidate> = candidates(index).into_values().collect();
        words.sort_unstable_by_key(|word| word.var);
        let mut locks = SpinLocks::default();
        for word in words {
            locks.add(&word, index, &begins);
        }
        locks.sections.sort_unstable_by_key(|section| (section.begin, section.acquire));
        locks.hold(index);
        locks
    }

    /// The sections that begin at the event.
    pub(crate) fn beginning_at(&self, event: u32) -> &[SpinSection] {
        let from = self.sections.partition_point(|section| section.begin < event);
        let count = self.sections[from..].partition_point(|section| section.begin == event);
        &self.sections[from..from + count]
    }

    /// The sections that the thread is in after so many of its events.
    pub(crate) fn held_after(&self, thread: usize, count: u32) -> impl Iterator<Item = &SpinSection> {
        let held = self.held.get(thread).map(|held| held.after(count)).unwrap_or_default();
        held.into_iter().map(|number| &self.sections[number as usize])
    }

    /// Adds the sections of a variable, if it is a lock that several threads take.
    fn add(&mut self, word: &LockCandidate, index: &Index<'_>, begins: &Begins<'_>) {
        let place = |event: u32| index.place[event as usize];
        let lock = number(self.words.len());
        let mut sections = Vec::with_capacity(word.sections.len());
        for &(acquire, end) in &word.sections {
            let begin = begins.of(acquire);
            if end != NONE && (begin == NONE || place(begin) > place(end)) {
                return;
            }
            if begin != NONE && begin != end {
                let thread = number(index.event(acquire).thread.index());
                sections.push(SpinSection { lock, thread, acquire, begin, end });
            }
        }
        let is_shared = sections.iter().any(|section| section.thread != sections[0].thread);
        if is_shared {
            self.words.push(word.var);
            self.sections.extend(sections);
        }
    }

    /// Notes for each thread when it is in which sections.
    fn hold(&mut self, index: &Index<'_>) {
        if self.sections.is_empty() {
            return;
        }
        let mut changes: Vec<Vec<SectionChange>> = vec![Vec::new(); index.threads.len()];
        for (section, spin) in (0u32..).zip(&self.sections) {
            let of_thread = &mut changes[spin.thread as usize];
            of_thread.push(SectionChange { place: index.place[spin.begin as usize], section, begins: true });
            if spin.end != NONE {
                of_thread.push(SectionChange {
                    place: index.place[spin.end as usize],
                    section,
                    begins: false,
                });
            }
        }
        self.held = changes.into_iter().map(HeldSections::of).collect();
    }
}

/// An atomic variable that may be a lock.
struct LockCandidate {
    var: VarId,
    free: Value,
    /// Each acquire with its release, or [`NONE`].
    sections: Vec<(u32, u32)>,
    /// The last section is open.
    is_held: bool,
}

/// The variables whose values change as those of locks do.
fn candidates(index: &Index<'_>) -> FxHashMap<VarId, LockCandidate> {
    let mut words: FxHashMap<VarId, LockCandidate> = FxHashMap::default();
    // Most traces have none.
    if !index.trace.events().iter().any(|event| matches!(event.op, Op::Rmw { .. })) {
        return words;
    }
    let begin = concurrent_from(index);
    for step in index.trace.events().iter().skip(begin as usize) {
        if let Op::Rmw { var, .. } = step.op
            && let Some(free) = index.content(var, begin).value
        {
            words.entry(var).or_insert_with(|| LockCandidate {
                var,
                free,
                sections: Vec::new(),
                is_held: false,
            });
        }
    }
    for (event, step) in (0u32..).zip(index.trace.events()).skip(begin as usize) {
        if let Some(access) = step.op.access()
            && let Some(word) = words.get_mut(&access.var)
            && !word.is_still_a_lock(index, event)
        {
            words.remove(&access.var);
        }
    }
    words
}

/// From which event on there may be more than one thread. What comes before that comes first in every schedule.
fn concurrent_from(index: &Index<'_>) -> u32 {
    let forks = (0u32..).zip(index.trace.events()).filter_map(|(event, step)| match step.op {
        Op::Fork(child) => Some((event, child)),
        _ => None,
    });
    let mut is_forked = vec![false; index.threads.len()];
    let mut first = NONE;
    for (event, child) in forks {
        is_forked[child.index()] = true;
        first = first.min(event);
    }
    let roots =
        is_forked.iter().zip(&index.threads).filter(|(forked, events)| !**forked && !events.is_empty());
    if roots.count() == 1 && first != NONE { first } else { 0 }
}

impl LockCandidate {
    /// Takes note of the next access. Tells whether the variable may still be a lock.
    fn is_still_a_lock(&mut self, index: &Index<'_>, event: u32) -> bool {
        let step = index.event(event);
        if step.unexplained {
            return false;
        }
        if index.changes_memory(event).is_none() {
            return true;
        }
        let Some(written) = index.value_after(event) else { return false };
        let sees_free = step.op.access().is_some_and(|access| access.kind.reads())
            && step.op.value_read() == Some(self.free);
        match (sees_free, written == self.free) {
            (false, false) => true,
            (true, false) => self.acquire(event),
            (_, true) => self.release(index, event),
        }
    }

    fn acquire(&mut self, event: u32) -> bool {
        self.sections.push((event, NONE));
        !std::mem::replace(&mut self.is_held, true)
    }

    fn release(&mut self, index: &Index<'_>, event: u32) -> bool {
        let was_held = std::mem::replace(&mut self.is_held, false);
        let holder = self.sections.last_mut().filter(|_| was_held);
        let own = holder.filter(|holder| index.event(holder.0).thread == index.event(event).thread);
        own.map(|section| section.1 = event).is_some()
    }
}

/// Where it is certain that an acquire saw what it saw.
struct Begins<'i> {
    index: &'i Index<'i>,
    model: Model,
    all_pinned: bool,
}

impl<'i> Begins<'i> {
    fn new(index: &'i Index<'i>, model: Model, all_pinned: bool) -> Begins<'i> {
        Begins { index, model, all_pinned }
    }

    /// The first event of the thread that runs only if the acquire saw what it saw, or [`NONE`].
    fn of(&self, acquire: u32) -> u32 {
        match self.model {
            _ if self.all_pinned => acquire,
            Model::SameWrite => acquire,
            Model::SameValue => self.after(acquire).next().unwrap_or(NONE),
            Model::ControlFlow => {
                let is_branch = |event: &u32| self.index.event(*event).op == Op::Branch;
                self.after(acquire).find(is_branch).unwrap_or(NONE)
            }
            Model::Necessary => self.index.flow.as_ref().map_or(NONE, |flow| flow.steered_by(acquire)),
            // What is written may be another value in another schedule.
            Model::Values => NONE,
        }
    }

    fn after(&self, event: u32) -> impl Iterator<Item = u32> {
        let thread = self.index.event(event).thread.index();
        let place = self.index.place[event as usize] as usize + 1;
        self.index.threads[thread].get(place..).unwrap_or_default().iter().copied()
    }
}

/// A count of things of which there are fewer than events.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
