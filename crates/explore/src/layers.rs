//! States instead of runs: all states that so many steps lead to, then all that one more step leads to, and so on.
//!
//! What can follow depends on the state alone, and how many steps led to a state is part of it. So each state is
//! looked at once, in its layer, together with the number of runs that lead to it: the same numbers as those of the
//! plain walk, exponentially faster. Only two layers are kept at a time, and for each state the best way to it.
//!
//! If a layer does not fit into memory, the states of the one before are where others have to go on.

use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::budget::{Fuel, Limits, Progress};
use crate::count::{Count, Tally};
use crate::sights::{Path, Sights};
use crate::system::{Observer, Sight, System};
use crate::table::{Entry, Room, Table, hash};

/// How many states a worker takes at a time.
const CHUNK: usize = 256;

/// One layer.
struct Layer {
    shards: Vec<Table>,
    /// The states in the order of the best ways to them.
    order: Vec<Ranked>,
}

/// Where a state is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    origin: u64,
    shard: usize,
    place: usize,
}

impl Layer {
    /// Puts the states in order.
    fn new(shards: Vec<Table>) -> Layer {
        let mut order: Vec<Ranked> = shards
            .iter()
            .enumerate()
            .flat_map(|(shard, table)| {
                table.iter().map(move |(place, entry)| Ranked { origin: entry.origin, shard, place })
            })
            .collect();
        // No two states have the same origin.
        order.par_sort_unstable();
        Layer { shards, order }
    }

    fn key(&self, state: Ranked) -> &[u64] {
        self.shards[state.shard].key(state.place)
    }

    fn entry(&self, state: Ranked) -> Entry {
        self.shards[state.shard].entry(state.place)
    }

    fn bytes(&self) -> u64 {
        self.shards.iter().map(Table::bytes).sum()
    }
}

/// The best ways to all states of all layers: per layer and rank, which state of the layer before, and which thread.
#[derive(Default)]
pub(crate) struct History {
    threads: u64,
    layers: Vec<Vec<u64>>,
}

impl History {
    pub(crate) fn new(threads: usize) -> History {
        History { threads: threads as u64, layers: Vec::new() }
    }

    /// How the state of this rank in the last layer was reached.
    pub(crate) fn path(&self, rank: usize) -> Path {
        let mut backwards = Vec::with_capacity(self.layers.len());
        let mut rank = rank;
        for layer in self.layers.iter().rev() {
            let origin = layer[rank];
            backwards.push(u32::try_from(origin % self.threads).unwrap_or(u32::MAX));
            rank = usize::try_from(origin / self.threads).unwrap_or(usize::MAX);
        }
        backwards.reverse();
        backwards
    }

    /// How many steps lead to the last layer.
    pub(crate) fn depth(&self) -> usize {
        self.layers.len()
    }

    fn origin(&self, rank: usize, thread: usize) -> u64 {
        rank as u64 * self.threads + thread as u64
    }
}

/// What came of some states.
#[derive(Default)]
struct Expanded {
    /// The runs that the steps from these states lead to, and those that end in one of these states.
    tally: Tally,
    /// How many runs there are at least that cannot be prolonged.
    ends_at_least: Count,
    /// Which part of the tree ends here.
    part: f64,
    /// What was seen, and the rank of the first state in which it was.
    sights: FxHashMap<Sight, usize>,
    /// Not all steps could be taken: there is no room, or everything is to stop.
    is_full: bool,
    is_stopped: bool,
}

impl AddAssign for Expanded {
    fn add_assign(&mut self, other: Expanded) {
        self.tally += other.tally;
        self.ends_at_least += other.ends_at_least;
        self.part += other.part;
        for (sight, rank) in other.sights {
            let first = self.sights.entry(sight).or_insert(rank);
            *first = rank.min(*first);
        }
        self.is_full |= other.is_full;
        self.is_stopped |= other.is_stopped;
    }
}

/// A state from which the exploration continues.
pub(crate) struct Node {
    pub(crate) key: Box<[u64]>,
    /// Its rank in the last layer of the history.
    pub(crate) rank: usize,
    /// The steps taken since then.
    pub(crate) since: Path,
    /// How many runs lead here.
    pub(crate) runs: Count,
    /// Which part of the tree is below.
    pub(crate) part: f64,
}

/// Where the layers end.
pub(crate) struct Frontier {
    pub(crate) history: History,
    /// The states to continue from; empty if everything is done.
    pub(crate) nodes: Vec<Node>,
    pub(crate) is_stopped: bool,
}

/// A walk through the layers of one system.
pub(crate) struct Layers<'a, S, O> {
    pub(crate) system: S,
    pub(crate) observer: &'a O,
    pub(crate) limits: Limits<'a>,
    pub(crate) progress: &'a Progress,
    pub(crate) sights: &'a Sights,
    room: Room,
}

impl<'a, S: System, O: Observer<S>> Layers<'a, S, O> {
    pub(crate) fn new(
        system: S,
        observer: &'a O,
        limits: Limits<'a>,
        progress: &'a Progress,
        sights: &'a Sights,
    ) -> Layers<'a, S, O> {
        Layers { system, observer, limits, progress, sights, room: Room::new(limits.memory) }
    }

    /// Goes from layer to layer, as far as memory allows. What is found is added to `total`; the first state of all
    /// counts neither as a run nor as the end of one.
    pub(crate) fn run(&self, total: &mut Tally) -> Frontier {
        let mut history = History::new(self.system.threads());
        let mut layer = match self.first() {
            Some(layer) => layer,
            None => return Frontier { history, nodes: vec![self.root()], is_stopped: false },
        };
        loop {
            let shards: Vec<_> =
                (0..shard_count()).map(|_| Mutex::new(Table::new(self.system.key_words()))).collect();
            let mut done = self.expand(&layer, &history, &shards);
            for (sight, rank) in std::mem::take(&mut done.sights) {
                if !self.sights.has_within(sight, history.depth()) {
                    self.sights.add(sight, history.path(rank));
                }
            }
            if done.is_full && !done.is_stopped {
                drop(shards);
                return Frontier { nodes: nodes(&layer), history, is_stopped: false };
            }
            self.progress.add_explored(done.part);
            total.runs += done.tally.runs;
            if done.is_stopped {
                total.ends += done.ends_at_least;
                return Frontier { history, nodes: Vec::new(), is_stopped: true };
            }
            if history.depth() > 0 {
                total.ends += done.tally.ends;
            }
            let next = Layer::new(shards.into_iter().map(into_inner).collect());
            if next.order.is_empty() {
                return Frontier { history, nodes: Vec::new(), is_stopped: false };
            }
            self.room.give_back(layer.bytes());
            self.room.take_anyway(size_of::<u64>() as u64 * next.order.len() as u64);
            history.layers.push(next.order.iter().map(|state| state.origin).collect());
            layer = next;
        }
    }

    /// The layer of the first state alone, if there is room for it.
    fn first(&self) -> Option<Layer> {
        let key = self.system.key();
        let mut table = Table::new(key.len());
        let entry = Entry { runs: Count::ONE, origin: 0, part: 1.0 };
        table.add(&key, hash(&key), entry, &self.room).then(|| Layer::new(vec![table]))
    }

    /// The initial state to continue from.
    fn root(&self) -> Node {
        Node { key: self.system.key(), rank: 0, since: Vec::new(), runs: Count::ONE, part: 1.0 }
    }

    /// Takes all steps from all states of the layer.
    fn expand(&self, layer: &Layer, history: &History, next: &[Mutex<Table>]) -> Expanded {
        let worker =
            || Worker { layers: self, system: self.system.clone(), key: self.system.key(), history, next };
        let chunk = |worker: &mut Worker<'_, 'a, S, O>, number: usize| {
            let begin = number * CHUNK;
            let end = layer.order.len().min(begin + CHUNK);
            worker.chunk(layer, begin, end)
        };
        let chunks = (0..layer.order.len().div_ceil(CHUNK)).into_par_iter();
        chunks.map_init(worker, chunk).reduce(Expanded::default, |mut all, some| {
            all += some;
            all
        })
    }
}

/// A worker on some states of a layer.
struct Worker<'w, 'a, S, O> {
    layers: &'w Layers<'a, S, O>,
    system: S,
    key: Box<[u64]>,
    history: &'w History,
    next: &'w [Mutex<Table>],
}

impl<S: System, O: Observer<S>> Worker<'_, '_, S, O> {
    fn chunk(&mut self, layer: &Layer, begin: usize, end: usize) -> Expanded {
        let mut done = Expanded::default();
        let mut fuel = Fuel::new(self.layers.limits, self.layers.progress);
        for rank in begin..end {
            let state = layer.order[rank];
            let entry = layer.entry(state);
            if done.is_full || done.is_stopped {
                // No step was taken from here, but one could be.
                done.ends_at_least += entry.runs;
                continue;
            }
            self.system.unpack(layer.key(state));
            self.layers.observer.look(&self.system, None, |sight| {
                done.sights.entry(sight).or_insert(rank);
            });
            self.steps(rank, entry, &mut fuel, &mut done);
        }
        done
    }

    /// Takes all steps from the present state.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn steps(&mut self, rank: usize, entry: Entry, fuel: &mut Fuel<'_>, done: &mut Expanded) {
        let enabled = self.system.enabled();
        if enabled == 0 {
            done.tally.ends += entry.runs;
            done.ends_at_least += entry.runs;
            done.part += entry.part;
            return;
        }
        let part = entry.part / enabled as f64;
        for thread in 0..self.system.threads() {
            if !self.system.is_enabled(thread) {
                continue;
            }
            if !fuel.take() {
                done.is_stopped = true;
                done.ends_at_least += entry.runs;
                return;
            }
            let undo = self.system.step(thread);
            self.system.pack(&mut self.key);
            self.system.undo(thread, undo);
            let origin = self.history.origin(rank, thread);
            if !self.add(Entry { runs: entry.runs, origin, part }) {
                done.is_full = true;
                return;
            }
            done.tally.runs += entry.runs;
        }
        done.ends_at_least += entry.runs;
    }

    fn add(&mut self, entry: Entry) -> bool {
        let hash = hash(&self.key);
        let shard = usize::try_from(hash >> 40).unwrap_or(0) % self.next.len();
        let mut table = self.next[shard].lock().unwrap_or_else(PoisonError::into_inner);
        table.add(&self.key, hash, entry, &self.layers.room)
    }
}

/// Several, so that workers seldom wait for each other.
fn shard_count() -> usize {
    if rayon::current_num_threads() == 1 { 1 } else { 64 }
}

fn into_inner(table: Mutex<Table>) -> Table {
    table.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// All states of the layer.
fn nodes(layer: &Layer) -> Vec<Node> {
    let node = |(rank, &state): (usize, &Ranked)| {
        let entry = layer.entry(state);
        Node { key: layer.key(state).into(), rank, since: Vec::new(), runs: entry.runs, part: entry.part }
    };
    layer.order.iter().enumerate().map(node).collect()
}
