//! What runs before an access in every schedule of a model, as far as one pass over the trace tells.
//!
//! An ordered pair that is found here need never be asked about; on long traces that is nearly all of them. Next to the
//! order that every schedule keeps (forks, joins, barriers, …) a read tells something: if it must see what it saw, one of
//! the writes of that value has run before, and with it what runs before all of these.
//!
//! Memory is bounded: a clock that is not kept makes answers weaker, never wrong.

use foretell_trace::{Op, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::{Index, NONE, Seen};
use crate::verdict::Pinning;

/// How many entries all clocks of one kind may have together.
const MOST_ENTRIES: usize = 1 << 26;

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
    pub(crate) fn new(index: &Index<'_>, pinning: Pinning, same_write: bool) -> Causal {
        let mut pass = Pass::new(index, pinning, same_write);
        for event in 0..index.len() {
            pass.event(event);
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

    fn keep(&mut self, thread: usize, place: u32, clock: &[u32]) {
        if self.clocks.len() < MOST_ENTRIES {
            self.history[thread].push((place, self.clocks.len() / self.width));
            self.clocks.extend_from_slice(clock);
        }
    }
}

/// The pass over the trace.
struct Pass<'i> {
    index: &'i Index<'i>,
    pinning: Pinning,
    same_write: bool,
    causal: Causal,
    /// For each thread, what has run when its next event runs.
    ran: Vec<Clock>,
    /// The same if, moreover, all its reads so far have seen what they saw.
    faithful: Vec<Clock>,
    /// Whether a clock in `ran` has grown since it was kept.
    grown: Vec<bool>,
    /// For each variable, what has run after its last write, if the writer is faithful.
    written: FxHashMap<VarId, Clock>,
    /// For each value that several write, what has run after any of these.
    any: FxHashMap<(VarId, Value), Clock>,
    /// What has run after single events that others need.
    after: FxHashMap<u32, Clock>,
    /// The events whose clocks are needed later: forks, arrivals, notifications, …
    needed: FxHashSet<u32>,
    fence: Option<Clock>,
}

impl<'i> Pass<'i> {
    fn new(index: &'i Index<'i>, pinning: Pinning, same_write: bool) -> Pass<'i> {
        let width = index.threads.len();
        let zero = || vec![0; width].into_boxed_slice();
        let causal = Causal { history: vec![Vec::new(); width], clocks: Vec::new(), width };
        let mut pass = Pass {
            index,
            pinning,
            same_write,
            causal,
            ran: (0..width).map(|_| zero()).collect(),
            faithful: (0..width).map(|_| zero()).collect(),
            grown: vec![false; width],
            written: FxHashMap::default(),
            any: FxHashMap::default(),
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
        if self.pinning == Pinning::SameValue || step.op == Op::Branch {
            self.trust(thread);
        }
        if step.op.access().is_some() && std::mem::take(&mut self.grown[thread]) {
            self.causal.keep(thread, place, &self.ran[thread]);
        }
        self.ran[thread][thread] = place + 1;
        self.faithful[thread][thread] = place + 1;
        if let Some(access) = step.op.access() {
            if access.kind.reads() && !step.unexplained {
                self.read(event, thread, access.var);
            }
            if index.changes_memory(event).is_some() {
                self.write(event, thread, access.var);
            }
        }
        if self.pinning == Pinning::SameWrite {
            self.trust(thread);
        }
        if self.needed.contains(&event) {
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
        self.grown[thread] |= join(&mut self.ran[thread], &self.faithful[thread]);
    }

    fn learn(&mut self, thread: usize, clock: &[u32]) {
        self.grown[thread] |= join(&mut self.ran[thread], clock);
        join(&mut self.faithful[thread], clock);
    }

    fn read(&mut self, event: u32, thread: usize, var: VarId) {
        let source = match self.index.seen(event, self.same_write) {
            Seen::Anything | Seen::Write(NONE) => None,
            Seen::Write(_) => self.written.get(&var),
            Seen::Value(value) => match self.index.writers(var, value) {
                // Nobody knows yet what runs before a write that comes later.
                Some((_, last)) if last > event || self.index.is_initial(var, value) => None,
                Some((first, last)) if first == last => self.written.get(&var),
                _ => self.any.get(&(var, value)),
            },
        };
        if let Some(source) = source {
            join(&mut self.faithful[thread], source);
        }
    }

    fn write(&mut self, event: u32, thread: usize, var: VarId) {
        let width = self.causal.width;
        let clock = &self.faithful[thread];
        if let Some(value) = self.index.value_after(event)
            && self.index.writers(var, value).is_some_and(|(first, last)| first != last)
        {
            let full = (self.any.len() + 1).saturating_mul(width) > MOST_ENTRIES;
            match self.any.get_mut(&(var, value)) {
                Some(any) => meet(any, clock),
                // A value whose first writer is forgotten must be forgotten for good.
                None if full || self.index.writers(var, value).is_some_and(|(first, _)| first != event) => {}
                None => {
                    self.any.insert((var, value), clock.clone());
                }
            }
        }
        let full = (self.written.len() + 1).saturating_mul(width) > MOST_ENTRIES;
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
