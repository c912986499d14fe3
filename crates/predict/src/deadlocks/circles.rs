//! All circles of waits, each once.
//!
//! Most traces have none, which shows at once: what is held while something is wanted gives a graph of resources, and
//! only waits within one of its strongly connected components can be part of a circle.

use foretell_detect::lock_set::LockSetId;
use foretell_trace::{LockId, LockMode, ThreadId};
use rustc_hash::FxHashMap;

use super::{Resource, Wait, Waits};

/// So many steps are made in search of circles.
const MOST_STEPS: u64 = 20_000_000;
/// So many circles are kept.
const MOST_CIRCLES: usize = 20_000;
/// After so many steps it is asked whether to stop.
const STEPS_AT_ONCE: u64 = 1 << 16;

/// A circle: the numbers of its waits; and which of the threads that end with locks holds up the last one, if not the
/// first wait's thread does.
pub(super) struct Found {
    pub(super) waits: Vec<usize>,
    pub(super) ended: Option<usize>,
}

/// All circles, and whether there may be more.
pub(super) fn find(waits: &Waits, is_stopped: impl Fn() -> bool) -> (Vec<Found>, bool) {
    let (mut found, are_more) = of_ended(waits);
    let mut search = Search::new(waits, is_stopped);
    // Short circles first: where there are very many, these are the ones that are worth the time.
    for length in 2..=search.most_threads() {
        for start in search.within.clone() {
            if !search.are_more {
                search.begin(start, length);
            }
        }
    }
    found.append(&mut search.found);
    (found, are_more || search.are_more)
}

/// A wait for a lock that a thread has taken with it is a circle by itself. Says whether there are more than are kept.
fn of_ended(waits: &Waits) -> (Vec<Found>, bool) {
    let mut by_lock: FxHashMap<LockId, Vec<usize>> = FxHashMap::default();
    for (ended, &(_, _, held)) in waits.ended.iter().enumerate() {
        for &(lock, _) in waits.locks.locks(held) {
            by_lock.entry(lock).or_default().push(ended);
        }
    }
    let mut found = Vec::new();
    for (number, wait) in waits.waits.iter().enumerate() {
        let Resource::Lock(lock) = wait.wanted else { continue };
        for &ended in by_lock.get(&lock).into_iter().flatten() {
            let (_, thread, held) = waits.ended[ended];
            if thread == wait.thread || !waits.holds(held, wait) {
                continue;
            }
            if found.len() >= MOST_CIRCLES {
                return (found, true);
            }
            found.push(Found { waits: vec![number], ended: Some(ended) });
        }
    }
    (found, false)
}

impl Waits {
    /// Whether who holds these locks holds the wait up.
    fn holds(&self, held: LockSetId, wait: &Wait) -> bool {
        let Resource::Lock(wanted) = wait.wanted else { return false };
        self.locks.locks(held).iter().any(|&(lock, mode)| lock == wanted && mode.excludes(wait.mode))
    }

    /// Whether the second of two waits of different threads holds up the first.
    fn holds_up(&self, wait: &Wait, holder: &Wait) -> bool {
        match wait.wanted {
            Resource::Lock(_) => self.holds(holder.held, wait),
            Resource::End(thread) => holder.thread == thread,
        }
    }

    /// What a thread has while it waits.
    fn has(&self, wait: &Wait) -> impl Iterator<Item = (Resource, LockMode)> {
        let locks = self.locks.locks(wait.held).iter().map(|&(lock, mode)| (Resource::Lock(lock), mode));
        locks.chain([(Resource::End(wait.thread), LockMode::Exclusive)])
    }
}

struct Search<'w, S> {
    waits: &'w Waits,
    is_stopped: S,
    /// The waits that can be part of a circle.
    within: Vec<usize>,
    /// Which of these have what.
    having: FxHashMap<Resource, Vec<usize>>,
    way: Vec<usize>,
    /// How many waits the circles have that are looked for now.
    length: usize,
    found: Vec<Found>,
    steps: u64,
    are_more: bool,
}

impl<'w, S: Fn() -> bool> Search<'w, S> {
    fn new(waits: &'w Waits, is_stopped: S) -> Search<'w, S> {
        let component = components(waits);
        let is_within = |&number: &usize| {
            let wait = &waits.waits[number];
            let wanted = component.get(&wait.wanted);
            wanted.is_some() && waits.has(wait).any(|(resource, _)| component.get(&resource) == wanted)
        };
        let within: Vec<usize> = (0..waits.waits.len()).filter(is_within).collect();
        let mut having: FxHashMap<Resource, Vec<usize>> = FxHashMap::default();
        for &number in &within {
            for (resource, _) in waits.has(&waits.waits[number]) {
                having.entry(resource).or_default().push(number);
            }
        }
        let (way, found) = (Vec::new(), Vec::new());
        Search { waits, is_stopped, within, having, way, length: 0, found, steps: 0, are_more: false }
    }

    /// How many threads have waits that can be part of a circle.
    fn most_threads(&self) -> usize {
        let mut threads: Vec<ThreadId> =
            self.within.iter().map(|&number| self.waits.waits[number].thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads.len()
    }

    /// Goes all ways of this length that begin at this wait and meet later ones only, so that each circle is found
    /// once.
    fn begin(&mut self, start: usize, length: usize) {
        self.length = length;
        self.way.push(start);
        self.go_on();
        self.way.pop();
    }

    fn go_on(&mut self) {
        let waits = self.waits;
        let (Some(&start), Some(&last)) = (self.way.first(), self.way.last()) else { return };
        let wait = &waits.waits[last];
        if self.way.len() == self.length {
            if waits.holds_up(wait, &waits.waits[start]) {
                self.are_more |= self.found.len() >= MOST_CIRCLES;
                self.found.push(Found { waits: self.way.clone(), ended: None });
            }
            return;
        }
        let count = self.having.get(&wait.wanted).map_or(0, Vec::len);
        for place in 0..count {
            let next = self.having[&wait.wanted][place];
            self.steps += 1;
            let is_stopped = self.steps.is_multiple_of(STEPS_AT_ONCE) && (self.is_stopped)();
            if self.steps > MOST_STEPS || is_stopped || self.are_more {
                self.are_more = true;
                return;
            }
            if next > start && waits.holds_up(wait, &waits.waits[next]) && self.fits(next) {
                self.way.push(next);
                self.go_on();
                self.way.pop();
            }
        }
    }

    /// Whether the thread of the wait is none of those on the way, and can hold what it holds while they hold what they
    /// hold.
    fn fits(&self, next: usize) -> bool {
        let next = &self.waits.waits[next];
        self.way
            .iter()
            .map(|&number| &self.waits.waits[number])
            .all(|on_it| on_it.thread != next.thread && self.waits.locks.are_disjoint(on_it.held, next.held))
    }
}

/// The component of each resource that is part of a circle of resources: one leads to another if some thread has the
/// first while it wants the second.
fn components(waits: &Waits) -> FxHashMap<Resource, usize> {
    let mut numbers: FxHashMap<Resource, usize> = FxHashMap::default();
    let mut leads_to: Vec<Vec<usize>> = Vec::new();
    for wait in &waits.waits {
        let mut number = |resource| {
            let next = numbers.len();
            *numbers.entry(resource).or_insert(next)
        };
        let to = number(wait.wanted);
        let from: Vec<usize> = waits.has(wait).map(|(resource, _)| number(resource)).collect();
        leads_to.resize(numbers.len(), Vec::new());
        for from in from {
            leads_to[from].push(to);
        }
    }
    for next in &mut leads_to {
        next.sort_unstable();
        next.dedup();
    }
    let component = Components::of(&leads_to);
    let mut sizes = vec![0; component.len()];
    component.iter().for_each(|&component| sizes[component] += 1);
    let is_circular = |number: usize| sizes[component[number]] > 1 || leads_to[number].contains(&number);
    numbers.retain(|_, number| is_circular(*number));
    numbers.into_iter().map(|(resource, number)| (resource, component[number])).collect()
}

/// Strongly connected components, after Tarjan, without recursion.
struct Components<'g> {
    leads_to: &'g [Vec<usize>],
    index: Vec<usize>,
    low: Vec<usize>,
    stack: Vec<usize>,
    component: Vec<usize>,
    met: usize,
    done: usize,
}

const UNKNOWN: usize = usize::MAX;

impl Components<'_> {
    /// The component of each node.
    fn of(leads_to: &[Vec<usize>]) -> Vec<usize> {
        let unknown = vec![UNKNOWN; leads_to.len()];
        let mut search = Components {
            leads_to,
            index: unknown.clone(),
            low: unknown.clone(),
            stack: Vec::new(),
            component: unknown,
            met: 0,
            done: 0,
        };
        for root in 0..leads_to.len() {
            if search.index[root] == UNKNOWN {
                search.visit(root);
            }
        }
        search.component
    }

    fn visit(&mut self, root: usize) {
        let mut way = vec![(root, 0)];
        self.meet(root);
        while let Some((node, place)) = way.last_mut() {
            let node = *node;
            if let Some(&next) = self.leads_to[node].get(*place) {
                *place += 1;
                if self.index[next] == UNKNOWN {
                    self.meet(next);
                    way.push((next, 0));
                } else if self.component[next] == UNKNOWN {
                    self.low[node] = self.low[node].min(self.index[next]);
                }
                continue;
            }
            way.pop();
            if let Some(&(before, _)) = way.last() {
                self.low[before] = self.low[before].min(self.low[node]);
            }
            if self.low[node] == self.index[node] {
                while let Some(member) = self.stack.pop() {
                    self.component[member] = self.done;
                    if member == node {
                        break;
                    }
                }
                self.done += 1;
            }
        }
    }

    fn meet(&mut self, node: usize) {
        (self.index[node], self.low[node]) = (self.met, self.met);
        self.met += 1;
        self.stack.push(node);
    }
}
