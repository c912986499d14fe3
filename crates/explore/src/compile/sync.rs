//! What the observed run says about semaphores, barriers and notifications.

use foretell_trace::{BarrierId, Op, Trace, ops};
use rustc_hash::{FxHashMap, FxHashSet};

/// What synchronisation has in common with itself across threads.
#[derive(Debug)]
pub(super) struct Sync {
    /// Per semaphore: its permits at the beginning, `None` if the trace shows its creation.
    pub(super) permits: Vec<Option<u32>>,
    /// Per semaphore: how often it is waited for, and how often it is posted.
    pub(super) waits: Vec<u32>,
    pub(super) posts: Vec<u32>,
    /// Per barrier: how many arrivals there are.
    pub(super) arrivals: Vec<u32>,
    /// By arrival or departure: how many arrivals must have come before.
    pub(super) gathered: FxHashMap<usize, u32>,
    /// Per barrier: how many threads cross it together, if any may; `None` if the same ones do as observed.
    pub(super) sizes: Vec<Option<u32>>,
    /// Per barrier: whether any thread departs from it.
    crossed: Vec<bool>,
    /// The returns from waits that a notification explains.
    pub(super) notified: FxHashSet<usize>,
    /// Per condition: how many notifications of one thread there are.
    pub(super) signals: Vec<u32>,
}

impl Sync {
    pub(super) fn new(trace: &Trace) -> Sync {
        let names = trace.names();
        let mut sync = Sync {
            permits: vec![Some(0); names.sems.len()],
            waits: vec![0; names.sems.len()],
            posts: vec![0; names.sems.len()],
            arrivals: vec![0; names.barriers.len()],
            gathered: FxHashMap::default(),
            sizes: Vec::new(),
            crossed: vec![false; names.barriers.len()],
            notified: FxHashSet::default(),
            signals: vec![0; names.conds.len()],
        };
        sync.semaphores(trace);
        sync.barriers(trace);
        sync.notifications(trace);
        sync
    }

    /// Without a creation, the least number of permits that explains the trace is assumed.
    fn semaphores(&mut self, trace: &Trace) {
        for event in trace.events() {
            match event.op {
                Op::SemInit { sem, .. } => self.permits[sem.index()] = None,
                Op::SemPost(sem) => self.posts[sem.index()] += 1,
                Op::SemWait(sem) => {
                    let sem = sem.index();
                    self.waits[sem] += 1;
                    let lacking = self.waits[sem].saturating_sub(self.posts[sem]);
                    self.permits[sem] = self.permits[sem].map(|least| least.max(lacking));
                }
                ops!(memory | locks | control | conditions | barriers | labels) => {}
            }
        }
    }

    /// Arrivals up to the first departure of one of them form a generation.
    fn barriers(&mut self, trace: &Trace) {
        // Per barrier: how many arrived before the generation that gathers.
        let mut before = vec![0; self.arrivals.len()];
        // The threads inside, and how many arrived before their generation.
        let mut inside = FxHashMap::default();
        // Departures, by the number that arrived before their generation: how many arrived with it is known later.
        let mut departures = Vec::new();
        let mut complete = FxHashMap::default();
        for (index, event) in trace.events().iter().enumerate() {
            match event.op {
                Op::Arrive(barrier) => {
                    let barrier = barrier.index();
                    self.gathered.insert(index, before[barrier]);
                    self.arrivals[barrier] += 1;
                    inside.insert((event.thread, barrier), before[barrier]);
                }
                Op::Depart(barrier) => {
                    let barrier = barrier.index();
                    let Some(first) = inside.remove(&(event.thread, barrier)) else { continue };
                    self.crossed[barrier] = true;
                    if first == before[barrier] {
                        complete.insert((barrier, first), self.arrivals[barrier]);
                        before[barrier] = self.arrivals[barrier];
                    }
                    departures.push((index, (barrier, first)));
                }
                ops!(memory | locks | control | semaphores | conditions | labels) => {}
            }
        }
        self.gathered
            .extend(departures.iter().filter_map(|(index, key)| Some((*index, *complete.get(key)?))));
        self.sizes =
            (0..before.len()).map(|barrier| self.size(barrier, before[barrier], &complete)).collect();
    }

    /// How many cross the barrier together, if all complete generations have the same size and no more than that have
    /// come after them. `before` is how many have come up to then.
    fn size(&self, barrier: usize, before: u32, complete: &FxHashMap<(usize, u32), u32>) -> Option<u32> {
        let mut generations = complete.iter().filter(|(key, _)| key.0 == barrier);
        let &size = complete.get(&(barrier, 0))?;
        let same = generations.all(|(&(_, first), &after)| after - first == size);
        (same && self.arrivals[barrier] - before <= size).then_some(size)
    }

    /// The barriers that some thread departs from, and of which it is not known how many cross them together.
    pub(super) fn as_recorded(&self) -> Vec<BarrierId> {
        let unknown =
            |barrier: &BarrierId| self.sizes[barrier.index()].is_none() && self.crossed[barrier.index()];
        (0..self.sizes.len()).filter_map(BarrierId::from_index).filter(unknown).collect()
    }

    /// Each notification explains at most one return, the one that comes first; or all.
    fn notifications(&mut self, trace: &Trace) {
        // Per thread: where its wait will return because of a notification, if it waits. Found from the end.
        let mut returns = vec![None; trace.thread_count()];
        let mut back_of = FxHashMap::default();
        for (index, event) in trace.events().iter().enumerate().rev() {
            let thread = event.thread.index();
            if let Op::Wait { .. } = event.op
                && let Some(back) = returns[thread]
            {
                back_of.insert(index, back);
            }
            returns[thread] = matches!(event.op, Op::Woken { .. }).then_some(index);
        }
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); trace.names().conds.len()];
        for (index, event) in trace.events().iter().enumerate() {
            match event.op {
                Op::Wait { cond, .. } => waiting[cond.index()].extend(back_of.get(&index)),
                Op::Woken { cond, .. } => waiting[cond.index()].retain(|&back| back != index),
                Op::NotifyAll(cond) => self.notified.extend(waiting[cond.index()].drain(..)),
                Op::Notify(cond) => {
                    self.signals[cond.index()] += 1;
                    let waiting = &mut waiting[cond.index()];
                    if let Some(&first) = waiting.iter().min() {
                        waiting.retain(|&back| back != first);
                        self.notified.insert(first);
                    }
                }
                Op::WaitTimeout { .. } | ops!(memory | locks | control | semaphores | barriers | labels) => {}
            }
        }
    }
}
