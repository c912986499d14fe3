//! What runs before an access in every schedule of a model, as far as one pass over the trace tells.
//!
//! An ordered pair that is found here need never be asked about; on long traces that is nearly all of them. Next to the
//! order that every schedule keeps (forks, joins, barriers, …) a read tells something: if it must see what it saw, one
//! of the writes of that value has run before, and with it what runs before all of these. Of each thread the writes
//! count that are not known to be overwritten: the last one that is known to come before the read, and those after it.
//!
//! Where the trace tells what each read steers, what a read tells is known from the event on that it steers.
//!
//! Memory is bounded: a clock that is not kept makes answers weaker, never wrong.

use foretell_trace::dependence::Reads;
use foretell_trace::{Model, Op, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::Flow;
use crate::index::{Index, MustSee, NONE};

/// How many entries all clocks of one kind may have together.
const MOST_ENTRIES: usize = 1 << 26;
/// Every thread has clocks with an entry for each: with more threads nothing is ordered.
const MOST_THREADS: usize = 1 << 12;
/// Where so many threads write a variable that all their clocks have more entries than this, a read tells nothing.
const MOST_COMPARED: usize = 4096;
/// So many writes of other values are passed over when looking for the next write of a value.
const MOST_PASSED: usize = 64;

/// For each thread, how many of its events run before some point.
type Clock = Box<[u32]>;

/// What runs before each access.
#[derive(Debug)]
pub(crate) struct Causal {
    /// For each thread, from which place on which clock holds.
    history: Vec<Vec<(u32, usize)>>,
    clocks: Vec<u32>,
    width: usize,
}

impl Causal {
    pub(crate) fn new(index: &Index<'_>, model: Model, same_write: bool) -> Causal {
        // Where reads may see anything, they tell nothing.
        let model = Some(model).filter(|&model| model != Model::Values);
        Causal::found_by(CausalPass::new(index, model, same_write))
    }

    /// What runs before an access whatever reads see.
    pub(crate) fn certain(index: &Index<'_>) -> Causal {
        Causal::found_by(CausalPass::new(index, None, true))
    }

    fn found_by(mut pass: CausalPass<'_>) -> Causal {
        let index = pass.index;
        if pass.causal.width <= MOST_THREADS {
            (0..index.len()).for_each(|event| pass.event(event));
        }
        pass.causal
    }

    /// How many events of `thread` run before the access at `place` of its thread.
    pub(crate) fn before(&self, of: usize, place: u32, thread: usize) -> u32 {
        let history = &self.history[of];
        match history.partition_point(|&(from, _)| from <= place).checked_sub(1) {
            None => 0,
            Some(last) => self.clocks[history[last].1 * self.width + thread],
        }
    }

    /// Whether `event` comes after `earlier`, an event of another thread, for sure.
    fn is_after(&self, index: &Index<'_>, event: u32, earlier: u32) -> bool {
        let (of, place) = (index.event(event).thread.index(), index.place[event as usize]);
        self.before(of, place, index.event(earlier).thread.index()) > index.place[earlier as usize]
    }

    /// Whether one of the last writes of other threads comes after the write, for sure.
    pub(crate) fn is_overwritten(&self, index: &Index<'_>, write: u32, last: &[u32]) -> bool {
        let thread = index.event(write).thread;
        let others = last.iter().filter(|&&other| index.event(other).thread != thread);
        others.copied().any(|other| self.is_after(index, other, write))
    }

    /// What is newly known at the access, compared to the one before it in its thread: how many events of which thread
    /// run before it.
    pub(crate) fn news(&self, of: usize, place: u32) -> impl Iterator<Item = (usize, u32)> {
        let history = &self.history[of];
        let at = history.partition_point(|&(from, _)| from <= place);
        let clock = |version: usize| {
            let begin = history[version].1 * self.width;
            &self.clocks[begin..begin + self.width]
        };
        let now = at.checked_sub(1).filter(|&last| history[last].0 == place).map(clock);
        let before = at.checked_sub(2).map(clock);
        now.into_iter()
            .flatten()
            .copied()
            .enumerate()
            .filter(move |&(thread, count)| thread != of && count > before.map_or(0, |before| before[thread]))
    }

    fn keep(&mut self, thread: usize, place: u32, clock: &[u32]) {
        if self.clocks.len() < MOST_ENTRIES {
            self.history[thread].push((place, self.clocks.len() / self.width));
            self.clocks.extend_from_slice(clock);
        }
    }
}

/// The pass over the trace.
struct CausalPass<'i> {
    index: &'i Index<'i>,
    /// Which reads are pinned; if none are, none tells anything.
    model: Option<Model>,
    same_write: bool,
    causal: Causal,
    /// For each thread, what has run when its next event runs.
    ran: Vec<Clock>,
    /// The same if, moreover, all its reads so far have seen what they saw.
    as_observed: Vec<Clock>,
    /// Which reads matter to what, if reads are pinned because of this.
    flow: Option<&'i Flow<'i>>,
    /// For events that reads before them steer, what has run before these reads if they are as observed.
    steering: FxHashMap<u32, Clock>,
    /// Whether a clock in `ran` has grown since it was kept.
    grown: Vec<bool>,
    /// For each variable, what has run after its last write, if the writer is as observed.
    written: FxHashMap<VarId, Clock>,
    /// What has run after single events that others need.
    after: FxHashMap<u32, Clock>,
    /// The events whose clocks are needed later: forks, arrivals, notifications, …
    needed: FxHashSet<u32>,
    fence: Option<Clock>,
}

impl<'i> CausalPass<'i> {
    fn new(index: &'i Index<'i>, model: Option<Model>, same_write: bool) -> CausalPass<'i> {
        let width = index.threads.len();
        let clocks = || (0..width).filter(|_| width <= MOST_THREADS).map(|_| vec![0; width].into()).collect();
        let causal = Causal { history: vec![Vec::new(); width], clocks: Vec::new(), width };
        let mut pass = CausalPass {
            index,
            model,
            same_write,
            causal,
            ran: clocks(),
            as_observed: clocks(),
            flow: index.flow.as_ref().filter(|_| model == Some(Model::Necessary)),
            steering: FxHashMap::default(),
            grown: vec![false; width],
            written: FxHashMap::default(),
            after: FxHashMap::default(),
            needed: FxHashSet::default(),
            fence: None,
        };
        for event in 0..index.len() {
            let mut needed = std::mem::take(&mut pass.needed);
            index.for_each_need(event, |need| {
                needed.insert(need);
            });
            pass.needed = needed;
        }
        pass
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
        if step.op.access().is_some() && std::mem::take(&mut self.grown[thread]) {
            self.causal.keep(thread, place, &self.ran[thread]);
        }
        self.ran[thread][thread] = place + 1;
        self.as_observed[thread][thread] = place + 1;
        if let Some(access) = step.op.access().filter(|_| self.model.is_some()) {
            if access.kind.reads() && !step.unexplained {
                self.read(event, thread, access.var);
            }
            if index.changes_memory(event).is_some() {
                self.write(event, thread, access.var);
            }
        }
        if self.model == Some(Model::SameWrite) {
            self.trust(thread);
        }
        let is_room = (self.after.len() + 1).saturating_mul(self.causal.width) <= MOST_ENTRIES;
        if is_room && self.needed.contains(&event) {
            self.after.insert(event, self.ran[thread].clone());
        }
        if step.unexplained {
            let all = self.ran.iter().enumerate().map(|(thread, ran)| ran[thread]).collect();
            self.fence = Some(all);
        }
    }

    /// What must have run before the event.
    fn enter(&mut self, event: u32, thread: usize) {
        let mut needs = Vec::new();
        self.index.for_each_need(event, |need| needs.push(need));
        for need in needs {
            if let Some(clock) = self.after.remove(&need) {
                self.learn(thread, &clock);
                self.after.insert(need, clock);
            }
        }
        if let Some(fence) = self.fence.take() {
            self.learn(thread, &fence);
            self.fence = Some(fence);
        }
    }

    /// The thread goes on only if its reads have seen what they saw.
    fn trust(&mut self, thread: usize) {
        self.grown[thread] |= join(&mut self.ran[thread], &self.as_observed[thread]);
    }

    fn learn(&mut self, thread: usize, clock: &[u32]) {
        self.grown[thread] |= join(&mut self.ran[thread], clock);
        join(&mut self.as_observed[thread], clock);
    }

    fn read(&mut self, event: u32, thread: usize, var: VarId) {
        let before = match self.index.seen(event, self.same_write) {
            MustSee::Anything | MustSee::Write(NONE) => None,
            MustSee::Write(_) => self.written.get(&var).cloned(),
            MustSee::Value(value) => self.before_any_source(event, thread, var, value),
        };
        if let Some(before) = before {
            join(&mut self.as_observed[thread], &before);
            if let Some(flow) = self.flow {
                self.steer(event, thread, flow.steered_by(event), &before);
            }
        }
    }

    /// What is known of a read that is as observed is known of what it steers.
    fn steer(&mut self, read: u32, thread: usize, steered: u32, before: &[u32]) {
        if steered == read {
            // It cannot even run otherwise; but it can race.
            self.learn(thread, before);
        } else if steered != NONE && before.iter().zip(&self.ran[thread]).any(|(new, known)| new > known) {
            let full = (self.steering.len() + 1).saturating_mul(self.causal.width) > MOST_ENTRIES;
            match self.steering.get_mut(&steered) {
                Some(clock) => {
                    join(clock, before);
                }
                None if full => {}
                None => {
                    self.steering.insert(steered, before.into());
                }
            }
        }
    }

    /// What runs before every write of the value that the read may see.
    fn before_any_source(&self, read: u32, thread: usize, var: VarId, value: Value) -> Option<Clock> {
        if self.index.part.is_some() {
            // Others may write it elsewhere.
            return None;
        }
        let writes_of = self.index.writes_of(var);
        if writes_of.len().saturating_mul(self.causal.width) > MOST_COMPARED {
            return None;
        }
        // If this read matters to something, the earlier ones need not.
        let known = if self.flow.is_some() { &self.ran[thread] } else { &self.as_observed[thread] };
        let known_writes = |(writer, writes): &(usize, Vec<u32>)| {
            let until = if *writer == thread { self.index.place[read as usize] } else { known[*writer] };
            writes.partition_point(|&write| self.index.place[write as usize] < until)
        };
        let counts: Vec<usize> = writes_of.iter().map(known_writes).collect();
        let last: Vec<u32> =
            writes_of.iter().zip(&counts).filter_map(|(of, &count)| of.1[..count].last().copied()).collect();
        if last.is_empty() && self.index.is_initial(var, value) {
            return None;
        }
        let mut before: Option<Clock> = None;
        for ((writer, writes), &count) in writes_of.iter().zip(&counts) {
            let source = writes[..count].last().copied().filter(|&write| {
                self.index.value_after(write) == Some(value)
                    && !self.causal.is_overwritten(self.index, write, &last)
            });
            let later = if *writer == thread { &[][..] } else { &writes[count..] };
            let Some(source) = source.or_else(|| self.next_write(later, value)) else { continue };
            let clock = self.before_source(read, *writer, source);
            match &mut before {
                Some(before) => meet(before, &clock),
                None => before = Some(clock),
            }
        }
        before
    }

    /// The next write of the value, or one before it if that is far.
    fn next_write(&self, writes: &[u32], value: Value) -> Option<u32> {
        let near = &writes[..writes.len().min(MOST_PASSED)];
        let found = near.iter().copied().find(|&write| self.index.value_after(write) == Some(value));
        found.or_else(|| near.last().copied().filter(|_| near.len() < writes.len()))
    }

    /// What has run once a write of a thread has, as far as is known when the read is looked at.
    fn before_source(&self, read: u32, writer: usize, source: u32) -> Clock {
        let place = self.index.place[source as usize];
        let mut clock: Clock = if source < read {
            (0..self.causal.width).map(|other| self.causal.before(writer, place, other)).collect()
        } else {
            self.ran[writer].clone()
        };
        clock[writer] = place + 1;
        clock
    }

    fn write(&mut self, write: u32, thread: usize, var: VarId) {
        let full = (self.written.len() + 1).saturating_mul(self.causal.width) > MOST_ENTRIES;
        let trusts_all = self.flow.is_none_or(|flow| flow.value_of(write) == Reads::EVERYTHING);
        let clock = if trusts_all { &self.as_observed[thread] } else { &self.ran[thread] };
        match self.written.get_mut(&var) {
            Some(written) => written.copy_from_slice(clock),
            None if full => {}
            None => {
                self.written.insert(var, clock.clone());
            }
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

fn meet(clock: &mut [u32], other: &[u32]) {
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).min(theirs);
    }
}
