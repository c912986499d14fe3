//! How fast the weak orders are: events per second of processor time on a generated trace.
//!
//! `cargo run --release -p foretell-detect --example order_speed [EVENTS [TECHNIQUE]]`

use std::time::{Duration, Instant};

use foretell_detect::cp::Cp;
use foretell_detect::dco::Dco;
use foretell_detect::lockset::LockSet;
use foretell_detect::wcp::Wcp;
use foretell_detect::{Detector, Pairs, Reports};
use foretell_trace::symbol::Symbol;
use foretell_trace::{Event, EventId, Loc, LockId, Op, ThreadId, VarId};

const THREADS: usize = 10;
const LOCKS: usize = 50;
const VARS: usize = 1000;
/// Places in the program that access each variable, for reading and writing each.
const PLACES: usize = 3;
/// One access in so many is made without the lock.
const UNLOCKED: usize = 2000;

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 20) % bound as u64).unwrap_or(0)
    }
}

/// What a thread will do next, last first.
type Plan = Vec<Op>;

fn access(random: &mut Random, lock: usize) -> Option<Op> {
    let var = VarId::from_index(lock + LOCKS * random.below(VARS / LOCKS))?;
    let read = random.below(10) < 6;
    Some(if read { Op::Read { var, value: None } } else { Op::Write { var, value: None } })
}

/// A section with one to five accesses to variables of its lock.
fn section(random: &mut Random) -> Option<Plan> {
    let index = random.below(LOCKS);
    let lock = LockId::from_index(index)?;
    let mut plan = vec![Op::Release(lock)];
    let mut before = Vec::new();
    for _ in 0..=random.below(5) {
        let unlocked = random.below(UNLOCKED) == 0;
        if unlocked { &mut before } else { &mut plan }.push(access(random, index)?);
    }
    plan.push(Op::Acquire(lock));
    plan.append(&mut before);
    Some(plan)
}

fn location(random: &mut Random, op: Op) -> Option<Loc> {
    let place = match op.access() {
        Some(access) => {
            (access.var.index() * 2 + usize::from(access.kind.writes())) * PLACES + random.below(PLACES)
        }
        None => 2 * PLACES * VARS,
    };
    Symbol::number(u32::try_from(place).ok()?).map(Loc)
}

fn generate(count: usize) -> Option<Vec<Event>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut plans = vec![Plan::new(); THREADS];
    let mut owners = [None; LOCKS];
    let mut events = Vec::with_capacity(count);
    while events.len() < count {
        let thread = random.below(THREADS);
        if plans[thread].is_empty() {
            plans[thread] = section(&mut random)?;
        }
        let Some(&op) = plans[thread].last() else { continue };
        match op {
            Op::Acquire(lock) if owners[lock.index()].is_some() => continue,
            Op::Acquire(lock) => owners[lock.index()] = Some(thread),
            Op::Release(lock) => owners[lock.index()] = None,
            _ => {}
        }
        plans[thread].pop();
        let loc = location(&mut random, op)?;
        events.push(Event::new(ThreadId::from_index(thread)?, op, loc));
    }
    Some(events)
}

/// Time that this thread has run, where the system tells; it shares its processor with others.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn measure<D: Detector + Default>(name: &str, events: &[Event]) {
    let mut best = f64::INFINITY;
    let mut found = 0;
    for _ in 0..3 {
        let mut detector = D::default();
        let mut reports = Reports::new(Pairs::ByLocation);
        let (begin, ran) = (Instant::now(), processor_time());
        detector.batch(EventId::FIRST, events, &mut reports);
        detector.finish(&mut reports);
        let ran = processor_time().zip(ran).map(|(now, before)| now.saturating_sub(before));
        best = best.min(ran.unwrap_or_else(|| begin.elapsed()).as_secs_f64());
        found = reports.pairs().len();
    }
    let rate = events.len() as f64 / best / 1e6;
    println!("{name:8} {rate:7.2} million events/s  {found:7} location pairs");
}

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let only = std::env::args().nth(2);
    let Some(events) = generate(count) else { return };
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("lockset") {
        measure::<LockSet>("lockset", &events);
    }
    if wanted("wcp") {
        measure::<Wcp>("wcp", &events);
    }
    if wanted("cp") {
        measure::<Cp>("cp", &events);
    }
    if wanted("dco") {
        measure::<Dco>("dco", &events);
    }
}
