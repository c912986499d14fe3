//! One pass over the trace, in its order.
//!
//! Next to the order that every schedule keeps (forks, joins, barriers, …) two things tell something:
//! * A read. If it must see what it saw, one of the writes of that value has run before, its thread has seen what it
//!   saw until then, and what runs before all of these writes runs before the read. Of each thread the writes count
//!   that are not known to be overwritten: the last one that is known to come before the read, and the next one after
//!   it, unless that comes after the read for sure. The latter is known from the pass before.
//! * A critical section. One that excludes it and has begun before an event inside of it has ended before that.
//!
//! Where the trace tells what each read steers, what a read tells is known from the event on that it steers.

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_trace::dependence::Reads;
use foretell_trace::{LockId, LockMode, Model, Op, Value, VarId};
use rustc_hash::FxHashMap;

use super::{Causal, Clock, MOST_ENTRIES, MOST_THREADS};
use crate::flow::Flow;
use crate::index::{Index, MustSee, NONE};

/// Where so many threads write a variable that all their clocks have more entries than this, a read tells nothing.
const MOST_COMPARED: usize = 4096;

/// So many events are gone through between two looks at the stop flag.
const EVENTS_AT_ONCE: u16 = 1 << 15;

/// The pass over the trace.
pub(super) struct CausalPass<'i> {
    index: &'i Index<'i>,
    /// Which reads are pinned; if none are, none tells anything.
    model: Option<Model>,
    same_write: bool,
    /// What the pass before has found.
    previous: Option<&'i Causal>,
    causal: Causal,
    /// For each thread, what has run when its next event runs.
    ran: Vec<GrowingClock>,
    /// The same if, moreover, all its reads so far have seen what they saw.
    as_observed: Vec<GrowingClock>,
    /// Which reads matter to what, if reads are pinned because of this.
    flow: Option<&'i Flow<'i>>,
    /// For events that reads before them steer, what has run before these reads if they are as observed.
    steering: FxHashMap<u32, Clock>,
    /// For each variable, what has run after its last write, if the writer is as observed.
    written: FxHashMap<VarId, Clock>,
    /// What has run after single events that others need.
    after: FxHashMap<u32, Clock>,
    /// For each event whether its clock is needed later: forks, arrivals, notifications, …
    needed: Vec<bool>,
    /// What the event at hand needs.
    needs: Vec<u32>,
    /// What runs before all that the read at hand may see.
    before: Clock,
    fence: Option<Clock>,
    sections: Sections,
}

/// What a thread knows.
struct GrowingClock {
    clock: Clock,
    /// The number under which it was last kept, and whether it has grown since.
    kept: u32,
    grown: bool,
    /// Whether it has grown since the sections that the thread is in were looked at.
    is_news: bool,
}

/// The critical sections so far.
struct Sections {
    /// For each thread, those that it is in.
    open: Vec<Vec<(LockId, LockMode, u32)>>,
    /// For each lock those that have ended, by thread and mode.
    ended: Vec<Vec<EndedSections>>,
}

/// The sections of one lock, thread and mode that have ended.
#[derive(Clone)]
struct EndedSections {
    thread: usize,
    mode: LockMode,
    /// The place where each begins, and its end.
    sections: Vec<(u32, u32)>,
}

impl<'i> CausalPass<'i> {
    pub(super) fn new(
        index: &'i Index<'i>,
        model: Option<Model>,
        same_write: bool,
        previous: Option<&'i Causal>,
    ) -> CausalPass<'i> {
        let width = index.threads.len();
        let events = index.trace.events().len();
        let clocks =
            || (0..width).filter(|_| width <= MOST_THREADS).map(|_| GrowingClock::new(width)).collect();
        let causal = Causal {
            clocks: Vec::new(),
            width,
            ran: vec![NONE; events],
            as_observed: vec![NONE; events],
            first_source: vec![0; events],
            doubts: 0,
        };
        let mut pass = CausalPass {
            index,
            model,
            same_write,
            previous,
            causal,
            ran: clocks(),
            as_observed: clocks(),
            flow: index.flow.as_ref().filter(|_| model == Some(Model::Necessary)),
            steering: FxHashMap::default(),
            written: FxHashMap::default(),
            after: FxHashMap::default(),
            needed: vec![false; events],
            needs: Vec::new(),
            before: vec![0; width].into(),
            fence: None,
            sections: Sections {
                open: vec![Vec::new(); width],
                ended: vec![Vec::new(); index.trace.names().locks.len()],
            },
        };
        for event in 0..index.len() {
            index.for_each_need(event, |need| pass.needed[need as usize] = true);
        }
        pass
    }

    /// What the pass finds.
    pub(super) fn run(mut self) -> Causal {
        self.events(0..self.index.len());
        self.causal
    }

    /// The same; nothing if it is told to stop.
    pub(super) fn run_unless(mut self, stop: &AtomicBool) -> Option<Causal> {
        let all = self.index.len();
        for begin in (0..all).step_by(EVENTS_AT_ONCE.into()) {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            self.events(begin..all.min(begin.saturating_add(EVENTS_AT_ONCE.into())));
        }
        Some(self.causal)
    }

    fn events(&mut self, events: Range<u32>) {
        if self.causal.width <= MOST_THREADS {
            events.for_each(|event| self.event(event));
        }
    }

    fn event(&mut self, event: u32) {
        let index = self.index;
        let step = index.event(event);
        let (thread, place) = (step.thread.index(), index.place[event as usize]);
        self.enter(event, thread);
        match self.model {
            Some(Model::SameValue) => self.trust(thread),
            Some(Model::SameWrite | Model::ControlFlow) if step.op == Op::Branch => self.trust(thread),
            Some(Model::SameWrite | Model::ControlFlow | Model::Necessary | Model::Values) | None => {}
        }
        if let Some(clock) = self.steering.remove(&event) {
            self.learn(thread, &clock);
        }
        self.begin_section(event, thread);
        self.sections.apply(&mut self.ran[thread], thread, &self.causal, index);
        if self.ran[thread].grown {
            self.as_observed[thread].join(&self.ran[thread].clock);
        }
        self.ran[thread].keep(&mut self.causal);
        self.causal.ran[event as usize] = self.ran[thread].kept;
        self.ran[thread].clock[thread] = place + 1;
        self.as_observed[thread].clock[thread] = place + 1;
        if let Some(access) = step.op.access().filter(|_| self.model.is_some()) {
            if access.kind.reads() && !step.unexplained {
                self.read(event, thread, access.var);
            }
            self.sections.apply(&mut self.as_observed[thread], thread, &self.causal, index);
            if index.changes_memory(event).is_some() {
                self.write(event, thread, access.var);
            }
        }
        if self.model == Some(Model::SameWrite) {
            self.trust(thread);
        }
        self.end_section(event, thread);
        let is_room = (self.after.len() + 1).saturating_mul(self.causal.width) <= MOST_ENTRIES;
        if is_room && self.needed[event as usize] {
            self.after.insert(event, self.ran[thread].clock.clone());
        }
        if step.unexplained {
            let all = self.ran.iter().enumerate().map(|(thread, ran)| ran.clock[thread]).collect();
            self.fence = Some(all);
        }
    }

    /// What must have run before the event.
    fn enter(&mut self, event: u32, thread: usize) {
        self.needs.clear();
        self.index.for_each_need(event, |need| self.needs.push(need));
        let needed = self.needs.iter().filter_map(|need| self.after.get(need));
        for clock in needed.chain(&self.fence) {
            self.ran[thread].join(clock);
            self.as_observed[thread].join(clock);
        }
    }

    /// The thread goes on only if its reads have seen what they saw.
    fn trust(&mut self, thread: usize) {
        self.ran[thread].join(&self.as_observed[thread].clock);
    }

    fn learn(&mut self, thread: usize, clock: &[u32]) {
        self.ran[thread].join(clock);
        self.as_observed[thread].join(clock);
    }

    fn begin_section(&mut self, event: u32, thread: usize) {
        if let Some((lock, mode)) = self.index.event(event).op.section_begin() {
            self.sections.open[thread].push((lock, mode, event));
            self.ran[thread].is_news = true;
            self.as_observed[thread].is_news = true;
        }
    }

    fn end_section(&mut self, event: u32, thread: usize) {
        let Some((lock, mode)) = self.index.event(event).op.section_end() else { return };
        let open = &mut self.sections.open[thread];
        let Some(which) = open.iter().rposition(|open| (open.0, open.1) == (lock, mode)) else { return };
        let begin = self.index.place[open.remove(which).2 as usize];
        let ended = &mut self.sections.ended[lock.index()];
        match ended.iter_mut().find(|of| (of.thread, of.mode) == (thread, mode)) {
            Some(of) => of.sections.push((begin, event)),
            None => ended.push(EndedSections { thread, mode, sections: vec![(begin, event)] }),
        }
    }

    fn read(&mut self, event: u32, thread: usize, var: VarId) {
        let (first, is_known) = match self.index.seen(event, self.same_write) {
            MustSee::Anything | MustSee::Write(NONE) => (0, false),
            MustSee::Write(write) => (write, self.find_before_last_write(var)),
            MustSee::Value(value) => self.find_before_any_source(event, thread, var, value),
        };
        self.causal.first_source[event as usize] = first;
        if is_known {
            self.as_observed[thread].join(&self.before);
            if let Some(flow) = self.flow {
                self.steer(event, thread, flow.steered_by(event));
            }
        }
    }

    /// What is known of a read that is as observed is known of what it steers.
    fn steer(&mut self, read: u32, thread: usize, steered: u32) {
        let before = &self.before;
        if steered == read {
            // It cannot even run otherwise; but it can race.
            self.ran[thread].join(before);
            self.as_observed[thread].join(before);
        } else if steered != NONE
            && before.iter().zip(&self.ran[thread].clock).any(|(new, known)| new > known)
        {
            let full = (self.steering.len() + 1).saturating_mul(self.causal.width) > MOST_ENTRIES;
            match self.steering.get_mut(&steered) {
                Some(clock) => {
                    join(clock, before);
                }
                None if full => {}
                None => {
                    self.steering.insert(steered, before.clone());
                }
            }
        }
    }

    /// Puts into `before` what has run after the last write of the variable, if that is known.
    fn find_before_last_write(&mut self, var: VarId) -> bool {
        let written = self.written.get(&var);
        if let Some(written) = written {
            self.before.copy_from_slice(written);
        }
        written.is_some()
    }

    /// The first write of the value that the read may see, or 0. Puts into `before` what runs before every such write,
    /// and tells whether it did.
    fn find_before_any_source(&mut self, read: u32, thread: usize, var: VarId, value: Value) -> (u32, bool) {
        let index = self.index;
        if index.part.is_some() {
            // Others may write it elsewhere.
            return (0, false);
        }
        if index.writes_of(var).len().saturating_mul(self.causal.width) > MOST_COMPARED {
            return (0, false);
        }
        // If this read matters to something, the earlier ones need not.
        let known = if self.flow.is_some() { &self.ran[thread] } else { &self.as_observed[thread] };
        // The first event of a thread that is not known to come before the read.
        let until = |of: usize| match index.threads[of].get(known.clock[of] as usize) {
            _ if of == thread => read,
            next => next.copied().unwrap_or(NONE),
        };
        let count = |of: usize, writes: &[u32]| {
            let until = until(of);
            writes.partition_point(|&write| write < until)
        };
        let last = LazyCell::new(|| -> Vec<u32> {
            let known = index.writes_of(var).iter().map(|(of, writes)| &writes[..count(*of, writes)]);
            known.filter_map(|writes| writes.last().copied()).collect()
        });
        if index.is_initial(var, value) && last.is_empty() {
            return (0, false);
        }
        let (mut first, mut doubts) = (NONE, 0);
        let mut before = std::mem::take(&mut self.before);
        for writer in index.writers(var, value) {
            let (of, writes) = (writer.thread as usize, index.writes_by(writer));
            let (known, later) = writes.split_at(count(of, writes));
            let is_visible =
                |write: &u32| last.contains(write) && !self.causal.is_overwritten(index, *write, &last);
            let later = || later.first().filter(|&&write| of != thread && !self.comes_after(write, read));
            let Some(&source) = known.last().filter(|&write| is_visible(write)).or_else(later) else {
                continue;
            };
            let clock = self.before_source(read, of, source);
            meet_source(&mut before, clock, (of, index.place[source as usize] + 1), first == NONE);
            first = first.min(source);
            doubts += usize::from(source > read);
        }
        self.causal.doubts += doubts;
        self.before = before;
        if first == NONE { (0, false) } else { (first, true) }
    }

    /// Whether a write that a read sees would come after the read for sure.
    fn comes_after(&self, write: u32, read: u32) -> bool {
        let (thread, place) = (self.index.event(read).thread.index(), self.index.place[read as usize]);
        self.previous.is_some_and(|previous| previous.before_as_observed(write, thread) > place)
    }

    /// What runs before a write that a read sees, as far as is known when the read is looked at, but for the events of
    /// its own thread; nothing if it is empty.
    fn before_source(&self, read: u32, writer: usize, source: u32) -> &[u32] {
        let known = if source < read { Some(&self.causal) } else { self.previous };
        match known {
            Some(causal) => causal.clock(causal.as_observed[source as usize]),
            None => &self.ran[writer].clock,
        }
    }

    fn write(&mut self, write: u32, thread: usize, var: VarId) {
        let trusts_all = self.flow.is_none_or(|flow| flow.value_of(write) == Reads::EVERYTHING);
        let clock = if trusts_all { &mut self.as_observed[thread] } else { &mut self.ran[thread] };
        clock.keep(&mut self.causal);
        self.causal.as_observed[write as usize] = clock.kept;
        let full = (self.written.len() + 1).saturating_mul(self.causal.width) > MOST_ENTRIES;
        match self.written.get_mut(&var) {
            Some(written) => written.copy_from_slice(&clock.clock),
            None if full => {}
            None => {
                self.written.insert(var, clock.clock.clone());
            }
        }
    }
}

impl GrowingClock {
    fn new(width: usize) -> GrowingClock {
        GrowingClock { clock: vec![0; width].into(), kept: NONE, grown: false, is_news: false }
    }

    fn join(&mut self, other: &[u32]) {
        if join(&mut self.clock, other) {
            self.grown = true;
            self.is_news = true;
        }
    }

    /// Keeps what it is now, unless that was done before.
    fn keep(&mut self, causal: &mut Causal) {
        if std::mem::take(&mut self.grown) {
            self.kept = causal.keep(&self.clock, self.kept);
        }
    }
}

impl Sections {
    /// What excludes the sections that a thread is in and has begun has ended, as far as the thread knows.
    fn apply(&self, known: &mut GrowingClock, thread: usize, causal: &Causal, index: &Index<'_>) {
        while std::mem::take(&mut known.is_news) {
            for &(lock, mode, _) in &self.open[thread] {
                let others = self.ended[lock.index()].iter();
                for ended in others.filter(|other| other.thread != thread && mode.excludes(other.mode)) {
                    known.end_last(ended, causal, index);
                }
            }
        }
    }
}

impl GrowingClock {
    /// The last of these sections that has begun has ended.
    fn end_last(&mut self, ended: &EndedSections, causal: &Causal, index: &Index<'_>) {
        let known = self.clock[ended.thread];
        let begun = ended.sections.partition_point(|&(begin, _)| begin < known);
        let Some(&(_, end)) = ended.sections[..begun].last() else { return };
        let place = index.place[end as usize];
        if place >= known {
            self.clock[ended.thread] = place + 1;
            self.grown = true;
            self.is_news = true;
            self.join(causal.clock(causal.ran[end as usize]));
        }
    }
}

/// Whether the first clock grows by the second.
fn join(clock: &mut [u32], other: &[u32]) -> bool {
    let mut grown = false;
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        grown |= theirs > *mine;
        *mine = (*mine).max(theirs);
    }
    grown
}

/// What is before all sources so far, of which this is the `first` or another: the clock of the source, which may be
/// empty, and its thread with the number of events that have run with it.
fn meet_source(before: &mut [u32], clock: &[u32], own: (usize, u32), first: bool) {
    for (thread, before) in before.iter_mut().enumerate() {
        let known = if thread == own.0 { own.1 } else { clock.get(thread).copied().unwrap_or(0) };
        *before = if first { known } else { known.min(*before) };
    }
}
