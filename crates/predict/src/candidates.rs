//! Which pairs are worth a question: conflicting accesses of different threads under disjoint lock sets that neither
//! the order which every schedule keeps nor a glance of the predictor rules out.
//!
//! This is the quick check ("QC") that RVPredict runs before its solver, with one difference to the `lockset` detector:
//! it does not stop at one pair for each pair of locations. If the nearest pair of two locations is no race, another
//! one may be.
//!
//! Pairs are never all in memory, and finding them is bounded:
//!
//! * [`Pairs::All`]: every pair is a piece of work, in the order of the trace, a few thousand at a time.
//! * [`Pairs::ByLocation`]: a pass over the trace keeps the few nearest pairs of each pair of locations. Once these are
//!   worked off, the next pass collects those that come after them, more each time. Where there are more pairs of
//!   locations than [`PairLimits::buckets`], the trace is cut into segments: all passes are made for pairs whose later
//!   access is in the first segment, then for the next. Nearest first then holds within each segment.
//! * What is not handed out because a limit was reached is counted, never dropped in silence: for a pair of locations
//!   in [`Bucket::left_out`], for what was not even looked at in [`Candidates::not_examined`].

mod index;
mod near;
mod sweep;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_detect::{Pair, Pairs};
use foretell_trace::{EventId, Loc, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use self::index::{CandidateIndex, Scope};
use self::near::{Near, Nearest};
use self::sweep::{Before, Rivals, Sweep};
use crate::predictor::Predictor;

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
pub struct PairLimits {
    /// How often, in all passes together, an access, a location or a group of accesses may be looked at. With the
    /// default an adversarial trace keeps one core busy for a minute or so; no other comes near it.
    pub inspections: u64,
    /// How many pairs of one pair of locations are handed out in one segment.
    pub of_locations: u64,
    /// How many pairs of locations are in memory at a time, give or take those of the last access.
    pub buckets: usize,
    /// How many pairs are in memory at a time.
    pub pairs: usize,
}

impl Default for PairLimits {
    fn default() -> PairLimits {
        PairLimits { inspections: 1_000_000_000, of_locations: 10_000, buckets: 1 << 20, pairs: 8 << 20 }
    }
}

/// How many of the nearest pairs of two locations the first pass hands out.
const FIRST_PASS: usize = 4;
/// How many times more each further pass hands out.
const GROWTH: usize = 8;
/// How many pairs are handed out at a time where all are wanted, give or take those of one access.
const CHUNK: usize = 4096;
/// How many events go by between two looks at the stop flag.
const STRIDE: usize = 256;

/// What is to be decided: whether two locations race, or whether two events do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key {
    /// Two locations, the smaller one first.
    Locations(Loc, Loc),
    /// Two events.
    Events(Pair),
}

/// One piece of work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// What is to be decided.
    pub key: Key,
    /// Pairs to try, the nearest first. Any of them that races decides the whole.
    pub pairs: Vec<Pair>,
    /// The nearest pair that is not among them, if there are more.
    pub next: Option<Pair>,
    /// How many more pairs later batches will bring, if this one decides nothing.
    pub more: u64,
    /// How many more pairs there are that no batch will bring, because a limit was reached.
    pub left_out: u64,
}

/// A number that may be too small because counting had to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// What was counted.
    pub number: u64,
    /// Whether there may be more.
    pub at_least: bool,
}

/// The pairs of one trace that are worth a question.
pub struct Candidates<'a> {
    trace: &'a Trace,
    wanted: Pairs,
    limits: PairLimits,
    stop: &'a AtomicBool,
    before: Box<Before<'a>>,
    index: CandidateIndex,
    /// Where the present segment begins.
    begin: Sweep,
    /// Where the present segment ends and the next one begins.
    end: Sweep,
    /// The pairs of locations of the present segment that are not decided.
    open: FxHashMap<(Loc, Loc), Nearest>,
    /// How many passes over the present segment have been made.
    passes: u32,
    /// How many inspections have been made. Only grows.
    inspections: u64,
    not_examined: u64,
}

impl<'a> Candidates<'a> {
    /// The candidates of the predictor's trace. Once `stop` is set, there are no more.
    pub fn new(predictor: &'a Predictor<'a>, wanted: Pairs, stop: &'a AtomicBool) -> Candidates<'a> {
        let before = Box::new(|event, thread| predictor.last_before(event, thread));
        let scope = predictor.part().map_or(Scope::default(), Scope::of);
        Candidates::with(predictor.trace(), scope, wanted, stop, before, PairLimits::default())
    }

    fn with(
        trace: &'a Trace,
        scope: Scope,
        wanted: Pairs,
        stop: &'a AtomicBool,
        before: Box<Before<'a>>,
        limits: PairLimits,
    ) -> Candidates<'a> {
        let index = CandidateIndex::new(trace, scope);
        let begin = Sweep::new(&index);
        let (end, open) = (begin.clone(), FxHashMap::default());
        let (passes, inspections, not_examined) = (0, 0, 0);
        Candidates {
            trace,
            wanted,
            limits,
            stop,
            before,
            index,
            begin,
            end,
            open,
            passes,
            inspections,
            not_examined,
        }
    }

    /// The next pieces of work, in the order of their first pairs; `None` once there are none. What `settled` says to
    /// be decided, or not to be worth more time, is left out.
    pub fn next_batch(&mut self, settled: &dyn Fn(Key) -> bool) -> Option<Vec<Bucket>> {
        loop {
            if self.is_stopped() {
                return None;
            }
            let mut batch = match self.wanted {
                Pairs::All => self.next_chunk(settled)?,
                Pairs::ByLocation => self.next_locations(settled)?,
            };
            if !batch.is_empty() && !self.is_stopped() {
                batch.sort_by_key(|bucket| {
                    bucket.pairs.first().or(bucket.next.as_ref()).map(|pair| (pair.second, pair.first))
                });
                return Some(batch);
            }
        }
    }

    /// How many pairs were not looked at because there were too many; some of them may belong to locations that are
    /// decided. Final once [`Candidates::next_batch`] has returned `None`.
    pub fn not_examined(&self) -> u64 {
        self.not_examined
    }

    /// No more pieces of work are wanted: all that would still come is only counted.
    pub fn give_up(&mut self) {
        self.open.clear();
        self.count_the_rest();
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_exhausted(&self) -> bool {
        self.inspections >= self.limits.inspections
    }

    fn is_at_end(&self) -> bool {
        self.end.position() >= self.trace.events().len()
    }

    /// Nothing more will be looked at: what is left is only counted.
    fn count_the_rest(&mut self) {
        let before: &Before<'_> = &*self.before;
        let mut rest = 0;
        while self.end.position() < self.trace.events().len() && !self.stop.load(Ordering::Relaxed) {
            self.end
                .step(self.trace, &self.index, Some(before), |_, _, _, rivals| rest += rivals.len() as u64);
        }
        self.not_examined += rest;
    }

    fn next_chunk(&mut self, settled: &dyn Fn(Key) -> bool) -> Option<Vec<Bucket>> {
        if self.is_exhausted() {
            self.count_the_rest();
        }
        if self.is_at_end() {
            return None;
        }
        let before: &Before<'_> = &*self.before;
        let mut pairs: Vec<Pair> = Vec::new();
        while pairs.len() < CHUNK
            && self.end.position() < self.trace.events().len()
            && self.inspections < self.limits.inspections
            && !(self.end.position().is_multiple_of(STRIDE) && self.stop.load(Ordering::Relaxed))
        {
            let begin = pairs.len();
            self.inspections +=
                self.end.step(self.trace, &self.index, Some(before), |_, second, _, rivals| {
                    pairs.extend(rivals.latest_first().map(|member| Pair { first: member.id, second }));
                });
            pairs[begin..].sort_unstable();
            self.inspections += (pairs.len() - begin) as u64;
        }
        let wanted = pairs.into_iter().filter(|&pair| !settled(Key::Events(pair)));
        Some(wanted.map(Bucket::of_pair).collect())
    }

    fn next_locations(&mut self, settled: &dyn Fn(Key) -> bool) -> Option<Vec<Bucket>> {
        self.open.retain(|&(a, b), nearest| nearest.remaining() > 0 && !settled(Key::Locations(a, b)));
        if !self.open.is_empty() {
            return Some(if self.is_exhausted() { self.leave_out() } else { self.further_pass() });
        }
        if self.is_exhausted() {
            self.count_the_rest();
        }
        if self.is_at_end() {
            return None;
        }
        Some(self.first_pass(settled))
    }

    /// Begins a new segment.
    fn first_pass(&mut self, settled: &dyn Fn(Key) -> bool) -> Vec<Bucket> {
        self.begin = self.end.clone();
        self.passes = 1;
        let mut sweep = self.begin.clone();
        let admit = |(a, b): (Loc, Loc)| !settled(Key::Locations(a, b));
        self.collect(&mut sweep, self.trace.events().len(), FIRST_PASS, Some(&admit));
        self.end = sweep;
        self.deliver(FIRST_PASS)
    }

    /// Goes through the present segment once more.
    fn further_pass(&mut self) -> Vec<Bucket> {
        let wanted = FIRST_PASS.saturating_mul(GROWTH.saturating_pow(self.passes));
        let keep = wanted.min((self.limits.pairs / self.open.len()).max(FIRST_PASS));
        // All that are open have been given the same number so far.
        let delivered = self.open.values().map(|nearest| nearest.delivered).max().unwrap_or(0);
        let left = self.limits.of_locations.saturating_sub(delivered).max(1);
        let keep = keep.min(usize::try_from(left).unwrap_or(usize::MAX));
        self.passes += 1;
        let mut sweep = self.begin.clone();
        let end = self.end.position();
        self.collect(&mut sweep, end, keep, None);
        // After an incomplete pass it is unknown whether what it kept is the nearest.
        if sweep.position() < end { self.leave_out() } else { self.deliver(keep) }
    }

    /// Keeps the nearest pairs up to an event. New pairs of locations are opened if `admit` lets them.
    fn collect(
        &mut self,
        sweep: &mut Sweep,
        end: usize,
        keep: usize,
        admit: Option<&dyn Fn((Loc, Loc)) -> bool>,
    ) {
        let before: &Before<'_> = &*self.before;
        let mut collector =
            Collector { index: &self.index, open: &mut self.open, keep: keep + 1, admit, inspections: 0 };
        while sweep.position() < end
            && self.inspections + collector.inspections < self.limits.inspections
            && (admit.is_none() || collector.open.len() < self.limits.buckets)
            && !(sweep.position().is_multiple_of(STRIDE) && self.stop.load(Ordering::Relaxed))
        {
            let groups = sweep.step(self.trace, &self.index, Some(before), |sweep, second, class, rivals| {
                collector.add(sweep, second, class, &rivals);
            });
            collector.inspections += groups;
        }
        self.inspections += collector.inspections;
    }

    fn deliver(&mut self, keep: usize) -> Vec<Bucket> {
        let limit = self.limits.of_locations;
        let deliver = |(&(a, b), nearest): (&(Loc, Loc), &mut Nearest)| {
            let pairs = nearest.deliver(keep);
            let remaining = nearest.remaining();
            let at_limit = nearest.delivered >= limit;
            if at_limit {
                nearest.seen = nearest.delivered;
            }
            let (more, left_out) = if at_limit { (0, remaining) } else { (remaining, 0) };
            Bucket { key: Key::Locations(a, b), pairs, next: nearest.next(), more, left_out }
        };
        self.open.iter_mut().map(deliver).collect()
    }

    /// Gives up on all that is open.
    fn leave_out(&mut self) -> Vec<Bucket> {
        let left_out = |((a, b), nearest): ((Loc, Loc), Nearest)| Bucket {
            key: Key::Locations(a, b),
            pairs: Vec::new(),
            next: nearest.next(),
            more: 0,
            left_out: nearest.remaining(),
        };
        self.open.drain().map(left_out).collect()
    }
}

impl std::fmt::Debug for Candidates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Candidates")
            .field("wanted", &self.wanted)
            .field("open", &self.open.len())
            .field("inspections", &self.inspections)
            .finish_non_exhaustive()
    }
}

impl Bucket {
    fn of_pair(pair: Pair) -> Bucket {
        Bucket { key: Key::Events(pair), pairs: vec![pair], next: None, more: 0, left_out: 0 }
    }
}

/// One pass that keeps the nearest pairs of each pair of locations.
struct Collector<'c> {
    index: &'c CandidateIndex,
    open: &'c mut FxHashMap<(Loc, Loc), Nearest>,
    keep: usize,
    /// Which pairs of locations may be opened, in the first pass.
    admit: Option<&'c dyn Fn((Loc, Loc)) -> bool>,
    inspections: u64,
}

impl Collector<'_> {
    fn add(&mut self, sweep: &Sweep, second: EventId, class: u32, rivals: &Rivals<'_>) {
        let (loc, keep) = (self.index.class(class).loc, self.keep);
        if rivals.locations() < rivals.len() {
            self.inspections += rivals.locations() as u64;
            for found in rivals.by_location(sweep) {
                let Some(nearest) = self.opened(loc, found.class, found.len()) else { continue };
                let mut offers = 0;
                for first in found.latest_first(nearest.up_to(second)) {
                    offers += 1;
                    if !nearest.offer(Near::new(first, second), keep) {
                        break;
                    }
                }
                self.inspections += offers;
            }
        } else {
            self.inspections += rivals.len() as u64;
            for member in rivals.latest_first() {
                if let Some(nearest) = self.opened(loc, member.class, 1) {
                    nearest.offer(Near::new(member.id, second), keep);
                }
            }
        }
    }

    /// What is kept for the two locations, if they are open. In the first pass `count` pairs of them are new.
    fn opened(&mut self, loc: Loc, class: u32, count: usize) -> Option<&mut Nearest> {
        let key = unordered(loc, self.index.class(class).loc);
        let Some(admit) = self.admit else { return self.open.get_mut(&key) };
        let nearest = match self.open.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) if admit(key) => entry.insert(Nearest::default()),
            Entry::Vacant(_) => return None,
        };
        nearest.seen += count as u64;
        Some(nearest)
    }
}

/// How many pairs the quick check leaves open, by what every schedule keeps alone: pairs of locations or of events, as
/// wanted. The count ends where [`PairLimits::inspections`] does.
pub fn quick_check(trace: &Trace, wanted: Pairs) -> Count {
    let limits = PairLimits::default();
    let index = CandidateIndex::new(trace, Scope::default());
    let mut sweep = Sweep::new(&index);
    let (mut number, mut inspections) = (0, 0);
    let mut seen: FxHashSet<(Loc, Loc)> = FxHashSet::default();
    while sweep.position() < trace.events().len() {
        if inspections >= limits.inspections || seen.len() >= limits.buckets * 16 {
            return Count { number: number + seen.len() as u64, at_least: true };
        }
        inspections += sweep.step(trace, &index, None, |sweep, _, class, rivals| {
            if wanted == Pairs::All {
                number += rivals.len() as u64;
                return;
            }
            let loc = index.class(class).loc;
            if rivals.locations() < rivals.len() {
                inspections += rivals.locations() as u64;
                let others = rivals.by_location(sweep).map(|found| index.class(found.class).loc);
                seen.extend(others.map(|other| unordered(loc, other)));
            } else {
                inspections += rivals.len() as u64;
                let others = rivals.latest_first().map(|member| index.class(member.class).loc);
                seen.extend(others.map(|other| unordered(loc, other)));
            }
        });
    }
    Count { number: number + seen.len() as u64, at_least: false }
}

fn unordered(a: Loc, b: Loc) -> (Loc, Loc) {
    if a <= b { (a, b) } else { (b, a) }
}

/// All pairs of conflicting accesses of different threads, whatever orders them. For small traces: there may be as many
/// as the square of the events.
pub fn conflicting_pairs(trace: &Trace) -> Vec<Pair> {
    let accesses: Vec<_> =
        trace.iter().filter_map(|(id, event)| Some((id, event.thread, event.op.access()?))).collect();
    let mut pairs = Vec::new();
    for (index, &(first, thread, access)) in accesses.iter().enumerate() {
        let later = accesses[index + 1..].iter();
        let conflicts = later.filter(|(_, other, later)| *other != thread && access.conflicts_with(*later));
        pairs.extend(conflicts.map(|&(second, ..)| Pair { first, second }));
    }
    pairs
}
