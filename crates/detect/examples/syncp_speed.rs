//! How fast `syncp` is, and how its cost grows: traces of threads that take a lock, access variables that belong to it,
//! and now and then forget the lock.
//!
//! `cargo run --release -p foretell-detect --example syncp_speed [events...]`

use std::error::Error;
use std::fs;

use foretell_detect::syncp::SyncP;
use foretell_detect::{Detector, Pairs, Reports};
use foretell_trace::{Event, EventId, Loc, LockId, Op, Symbol, ThreadId, VarId};

const THREADS: usize = 10;
const LOCKS: usize = 50;
const VARS: usize = 1000;
/// One access in so many is made without the lock.
const FORGET: usize = 2000;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % limit as u64).unwrap_or(0)
    }
}

/// What a thread still has to do in the section that it is in.
#[derive(Default)]
struct Section {
    lock: Option<usize>,
    accesses: usize,
}

/// How events get their locations.
#[derive(Clone, Copy, Debug)]
enum Locations {
    /// Two for each variable: where it is read and where it is written.
    Few,
    /// Each event has its own.
    Own,
}

struct Generator {
    random: Random,
    sections: Vec<Section>,
    taken: Vec<bool>,
    locations: Locations,
    events: Vec<Event>,
}

impl Generator {
    fn run(count: usize, locations: Locations) -> Option<Vec<Event>> {
        let mut generator = Generator {
            random: Random(0x9e37_79b9_7f4a_7c15),
            sections: (0..THREADS).map(|_| Section::default()).collect(),
            taken: vec![false; LOCKS],
            locations,
            events: Vec::with_capacity(count),
        };
        while generator.events.len() < count {
            generator.step()?;
        }
        Some(generator.events)
    }

    fn step(&mut self) -> Option<()> {
        let thread = self.random.below(THREADS);
        if self.random.below(FORGET) == 0 {
            let var = self.random.below(VARS);
            let lock = self.sections[thread].lock;
            if lock != Some(var % LOCKS) {
                return self.access(thread, var);
            }
        }
        match self.sections[thread].lock {
            None => {
                let lock = self.random.below(LOCKS);
                if self.taken[lock] {
                    return Some(());
                }
                self.taken[lock] = true;
                self.sections[thread] = Section { lock: Some(lock), accesses: 1 + self.random.below(5) };
                self.push(thread, Op::Acquire(LockId::from_index(lock)?), 0)
            }
            Some(lock) if self.sections[thread].accesses == 0 => {
                self.taken[lock] = false;
                self.sections[thread].lock = None;
                self.push(thread, Op::Release(LockId::from_index(lock)?), 0)
            }
            Some(lock) => {
                self.sections[thread].accesses -= 1;
                let var = self.random.below(VARS / LOCKS) * LOCKS + lock;
                self.access(thread, var)
            }
        }
    }

    fn access(&mut self, thread: usize, index: usize) -> Option<()> {
        let var = VarId::from_index(index)?;
        match self.random.below(2) {
            0 => self.push(thread, Op::Read { var, value: None }, 2 * index + 1),
            _ => self.push(thread, Op::Write { var, value: None }, 2 * index + 2),
        }
    }

    fn push(&mut self, thread: usize, op: Op, few: usize) -> Option<()> {
        let location = match self.locations {
            Locations::Few => few,
            Locations::Own => self.events.len(),
        };
        let loc = Loc(Symbol::number(u32::try_from(location).ok()?)?);
        self.events.push(Event::new(ThreadId::from_index(thread)?, op, loc));
        Some(())
    }
}

/// Processor time of this process so far. Linux counts it in ticks of a hundredth of a second.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).copied().unwrap_or("0").parse::<f64>();
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}

/// The most memory this process has used so far, as Linux words it.
fn peak_memory() -> Result<String, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.unwrap_or("unknown").trim().to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut counts: Vec<usize> =
        std::env::args().skip(1).map(|count| count.parse()).collect::<Result<_, _>>()?;
    if counts.is_empty() {
        counts = vec![10_000, 100_000, 1_000_000];
    }
    for count in counts {
        for locations in [Locations::Few, Locations::Own] {
            let events = Generator::run(count, locations).ok_or("too many events")?;
            for wanted in [Pairs::ByLocation, Pairs::All] {
                let begin = cpu_seconds()?;
                let mut reports = Reports::new(wanted);
                let mut detector = SyncP::default();
                detector.batch(EventId::FIRST, &events, &mut reports);
                detector.finish(&mut reports);
                println!(
                    "{count:>9} events, {locations:?} locations, {wanted:?}: {:.2} s, {} races, peak memory so far {}",
                    cpu_seconds()? - begin,
                    reports.pairs().len(),
                    peak_memory()?
                );
            }
        }
    }
    Ok(())
}
