//! Random records, judged by a graph: two accesses race if neither can be reached from the other. Nothing of the
//! detector is used for that, neither clocks nor epochs.

use std::collections::{BTreeMap, BTreeSet};

use foretell_online::Detector;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::{Record, SyncOp};
use foretell_wire::site::SourceLanguage;

/// A generator of small numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

type Step = (u32, Record<'static>);

const THREADS: u32 = 4;
const LOCKS: [u64; 2] = [0x8000, 0x8008];
/// Plain memory: some bytes that are accessed in several sizes.
const PLAIN: [(u64, u8); 7] =
    [(0x1000, 4), (0x1004, 4), (0x1000, 8), (0x1002, 2), (0x1003, 1), (0x1008, 8), (0x100E, 4)];
/// Memory that is accessed atomically and plainly, always with the same size.
const ATOMIC: [(u64, u8); 2] = [(0x2000, 4), (0x2008, 8)];
const SEMAPHORE: u64 = 0x9000;
/// The sites of a module that is written in C++.
const CPP: std::ops::Range<u64> = 1000..1030;

/// A run in which every access has a site of its own.
fn run(random: &mut Random, length: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut held: BTreeMap<u64, Vec<(u32, bool)>> = BTreeMap::new();
    let mut alive: BTreeSet<u32> = BTreeSet::from([0]);
    let mut permits = 0_u32;
    let sync = |op, object, other| Record::Sync { site: 7, op, object, other };
    steps.push((0, sync(SyncOp::SemInit, SEMAPHORE, 0)));
    let mut next = 1;
    for site in 0..u64::from(length) {
        let site = 1000 + site;
        let who: Vec<u32> = alive.iter().copied().collect();
        let thread = random.pick(&who);
        let order = random.pick(&[
            MemoryOrder::Relaxed,
            MemoryOrder::Acquire,
            MemoryOrder::Release,
            MemoryOrder::AcqRel,
            MemoryOrder::SeqCst,
        ]);
        let record = match random.below(24) {
            0..9 => {
                let memory = if random.below(5) == 0 { &ATOMIC[..] } else { &PLAIN };
                let (addr, size) = random.pick(memory);
                match random.below(2) {
                    0 => Record::Read { site, addr, size, value: 0 },
                    _ => Record::Write { site, addr, size, value: 0 },
                }
            }
            9..13 => {
                let ((addr, size), value) = (random.pick(&ATOMIC), 0);
                match random.below(3) {
                    0 => Record::AtomicLoad { site, addr, size, value, order },
                    1 => Record::AtomicStore { site, addr, size, value, order },
                    _ => Record::Rmw { site, addr, size, read: 0, written: 0, order },
                }
            }
            13..16 => {
                let (lock, shared) = (random.pick(&LOCKS), random.below(3) == 0);
                let holders = held.entry(lock).or_default();
                let mine = holders.iter().position(|&(holder, _)| holder == thread);
                if let Some(mine) = mine {
                    holders.remove(mine);
                    sync(SyncOp::Unlock, lock, 0)
                } else if holders.is_empty() || shared && holders.iter().all(|&(_, shared)| shared) {
                    holders.push((thread, shared));
                    sync(if shared { SyncOp::LockShared } else { SyncOp::Lock }, lock, 0)
                } else {
                    continue;
                }
            }
            16..19 if next < THREADS => {
                alive.insert(next);
                next += 1;
                sync(SyncOp::Fork, u64::from(next) - 1, 0)
            }
            19 if alive.len() > 1 && thread != *who.last().unwrap() => {
                let child = *who.last().unwrap();
                if held.values().flatten().any(|&(holder, _)| holder == child) {
                    continue;
                }
                alive.remove(&child);
                sync(SyncOp::Join, child.into(), 0)
            }
            20 => {
                permits += 1;
                sync(SyncOp::SemPost, SEMAPHORE, 0)
            }
            21 if permits > 0 => {
                permits -= 1;
                sync(SyncOp::SemWait, SEMAPHORE, 0)
            }
            22 => Record::Fence { order },
            23 if random.below(8) == 0 => Record::Opaque { site },
            _ => continue,
        };
        steps.push((thread, record));
    }
    steps
}

/// What a record touches, and how: first byte, length, writes, atomic.
fn touched(record: &Record<'_>) -> Option<(u64, u64, bool, bool)> {
    Some(match *record {
        Record::Read { addr, size, .. } => (addr, size.into(), false, false),
        Record::Write { addr, size, .. } => (addr, size.into(), true, false),
        Record::AtomicLoad { addr, size, .. } => (addr, size.into(), false, true),
        Record::AtomicStore { addr, size, .. } | Record::Rmw { addr, size, .. } => {
            (addr, size.into(), true, true)
        }
        _ => return None,
    })
}

fn site(record: &Record<'_>) -> u64 {
    match *record {
        Record::Read { site, .. }
        | Record::Write { site, .. }
        | Record::AtomicLoad { site, .. }
        | Record::AtomicStore { site, .. }
        | Record::Rmw { site, .. } => site,
        _ => 0,
    }
}

fn order_of(record: &Record<'_>) -> Option<MemoryOrder> {
    match *record {
        Record::AtomicLoad { order, .. }
        | Record::AtomicStore { order, .. }
        | Record::Rmw { order, .. }
        | Record::Fence { order } => Some(order),
        _ => None,
    }
}

fn acquires(record: &Record<'_>) -> bool {
    matches!(order_of(record), Some(MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst))
}

fn releases(record: &Record<'_>) -> bool {
    matches!(order_of(record), Some(MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst))
}

/// The heads of the release sequences that a load at this step sees: stores, read from directly or through updates; and
/// by the rules of C11, also through stores of the same thread.
fn heads(steps: &[Step], load: usize) -> Vec<usize> {
    let Some((addr, ..)) = touched(&steps[load].1) else { return Vec::new() };
    let same =
        |&at: &usize| touched(&steps[at].1).is_some_and(|(other, _, writes, _)| writes && other == addr);
    let mut heads = Vec::new();
    // Threads whose sequences are still going on, seen backwards: all until a store that is no update.
    let mut only: Option<u32> = None;
    for at in (0..load).rev().filter(same) {
        let (thread, record) = steps[at];
        match record {
            Record::Write { .. } => break,
            Record::Rmw { .. } if only.is_none_or(|only| only == thread) => heads.push(at),
            Record::AtomicStore { site, .. } if only.is_none_or(|only| only == thread) => {
                heads.push(at);
                only = Some(thread);
                if CPP.contains(&site) {
                    break;
                }
            }
            Record::AtomicStore { .. } => break,
            _ => {}
        }
    }
    heads
}

/// For each step, which ones come before it.
fn before(steps: &[Step]) -> Vec<BTreeSet<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for (at, &(thread, record)) in steps.iter().enumerate() {
        let mut direct: Vec<usize> = Vec::new();
        for (other, &(who, earlier)) in steps.iter().enumerate().take(at) {
            let opaque = |record: &Record<'_>| matches!(record, Record::Opaque { .. });
            let orders = match (&earlier, &record) {
                _ if who == thread || opaque(&earlier) || opaque(&record) => true,
                (
                    Record::Sync { op: SyncOp::Fork, object, .. },
                    Record::Sync { op: SyncOp::Join, object: same, .. },
                ) if object == same => true,
                (Record::Sync { op: SyncOp::Fork, object, .. }, _) if *object == u64::from(thread) => true,
                (_, Record::Sync { op: SyncOp::Join, object, .. }) if *object == u64::from(who) => true,
                (Record::Sync { op: one, object, .. }, Record::Sync { op: two, object: same, .. }) => {
                    object == same && orders(steps, other, *one, *two)
                }
                _ => false,
            };
            if orders {
                direct.push(other);
            }
        }
        direct.extend(published(steps, at));
        let mut all: BTreeSet<usize> = direct.iter().copied().collect();
        for other in direct {
            all.extend(&before[other]);
        }
        before.push(all);
    }
    before
}

/// Whether one operation on an object comes before a later one.
fn orders(steps: &[Step], one_at: usize, one: SyncOp, two: SyncOp) -> bool {
    use SyncOp::{Lock, LockShared, SemInit, SemPost, SemWait, Unlock};
    match (one, two) {
        (SemInit | SemPost | SemWait, SemInit | SemPost | SemWait) => true,
        (Unlock, Lock) => true,
        (Unlock, LockShared) => was_alone(steps, one_at),
        _ => false,
    }
}

/// Whether the lock that is given up here was held alone.
fn was_alone(steps: &[Step], at: usize) -> bool {
    let (thread, Record::Sync { object: lock, .. }) = steps[at] else { return false };
    let taken = steps[..at].iter().rev().find_map(|&(who, record)| match record {
        Record::Sync { op: op @ (SyncOp::Lock | SyncOp::LockShared), object, .. }
            if who == thread && object == lock =>
        {
            Some(op)
        }
        _ => None,
    });
    taken == Some(SyncOp::Lock)
}

/// The steps whose past an atomic load, or an acquire fence after it, learns.
fn published(steps: &[Step], at: usize) -> Vec<usize> {
    let (thread, record) = steps[at];
    let loads = |record: &Record<'_>| matches!(record, Record::AtomicLoad { .. } | Record::Rmw { .. });
    let seen_by: Vec<usize> = match record {
        _ if loads(&record) && acquires(&record) => vec![at],
        Record::Fence { .. } if acquires(&record) => {
            (0..at).filter(|&load| steps[load].0 == thread && loads(&steps[load].1)).collect()
        }
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for head in seen_by.into_iter().flat_map(|load| heads(steps, load)) {
        let (who, store) = steps[head];
        if releases(&store) {
            found.push(head);
        } else {
            // A relaxed store publishes what came before the last release fence of its thread.
            let fence = |&fence: &usize| {
                steps[fence].0 == who
                    && matches!(steps[fence].1, Record::Fence { .. })
                    && releases(&steps[fence].1)
            };
            found.extend((0..head).rev().find(fence));
        }
    }
    found
}

/// Pairs of sites that race, each with the bytes that both touch.
fn races(steps: &[Step]) -> BTreeMap<(u64, u64), BTreeSet<u64>> {
    let before = before(steps);
    let mut races = BTreeMap::new();
    for (at, (thread, record)) in steps.iter().enumerate() {
        let Some((addr, length, writes, atomic)) = touched(record) else { continue };
        for (other, (who, earlier)) in steps.iter().enumerate().take(at) {
            let Some((from, bytes, wrote, was_atomic)) = touched(earlier) else { continue };
            let conflict = who != thread && (writes || wrote) && !(atomic && was_atomic);
            let common: BTreeSet<u64> = (addr.max(from)..(addr + length).min(from + bytes)).collect();
            if conflict && !common.is_empty() && !before[at].contains(&other) {
                races.insert((site(earlier), site(record)), common);
            }
        }
    }
    races
}

/// The two sites of a race, and where in memory it is.
type Found = ((u64, u64), u64);

/// The races that the detector finds, in order. As a program does, it is not told of a plain access that its thread has
/// just made, if the detector said that this would be nothing new; and how many of these there were.
fn found(steps: &[Step]) -> (Vec<Found>, u32) {
    let mut detector = Detector::new();
    detector.module(&CPP, SourceLanguage::Cpp);
    let (mut known, mut turn, mut untold) = (BTreeSet::new(), u32::MAX, 0);
    for &(thread, record) in steps {
        if std::mem::replace(&mut turn, thread) != thread {
            known.clear();
        }
        let (site, addr, size, writes) = match record {
            Record::Read { site, addr, size, .. } => (site, addr, size, false),
            Record::Write { site, addr, size, .. } => (site, addr, size, true),
            _ => {
                detector.record(thread, &record);
                known.clear();
                continue;
            }
        };
        if known.contains(&(addr, size, writes)) {
            untold += 1;
        } else if detector.steps(thread, &[foretell_online::ShortRecord::Access { site, addr, size, writes }])
        {
            known.insert((addr, size, writes));
        } else {
            known.clear();
        }
    }
    assert!(!detector.is_blind());
    let races = detector.take_races();
    let races = races.iter().map(|race| ((race.first.site, race.second.site), race.address));
    (races.collect(), untold)
}

#[test]
fn what_is_found_races_and_what_races_is_found() {
    let mut random = Random(88_172_645_463_325_252);
    let (mut racy, mut quiet, mut pairs, mut all_untold) = (0, 0, 0, 0);
    for round in 0..6000 {
        let length = 10 + u32::try_from(round % 60).unwrap();
        let steps = run(&mut random, length);
        let (expected, (found, untold)) = (races(&steps), found(&steps));
        for (pair, addr) in &found {
            let bytes = expected.get(pair);
            assert!(
                bytes.is_some_and(|bytes| bytes.contains(addr)),
                "{pair:?} at {addr:#x} is no race: {steps:?}"
            );
        }
        // Everything that has raced at all is told, and the first moment at which something does.
        let raced: BTreeSet<u64> = expected.values().flatten().copied().collect();
        let told: BTreeSet<u64> =
            found.iter().filter_map(|(pair, _)| expected.get(pair)).flatten().copied().collect();
        assert_eq!(told, raced, "{found:?} {expected:?} {steps:?}");
        let first = expected.keys().map(|pair| pair.1).min();
        assert_eq!(found.iter().map(|(pair, _)| pair.1).min(), first, "{steps:?}");
        racy += u32::from(!expected.is_empty());
        quiet += u32::from(expected.is_empty() && steps.len() > 8);
        pairs += found.len();
        all_untold += untold;
    }
    assert!(racy > 1000 && quiet > 300 && pairs > 5000, "{racy} with races, {quiet} without, {pairs} pairs");
    assert!(all_untold > 1000, "{all_untold} not told");
}
