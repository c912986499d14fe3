//! What it costs to decide one pair of accesses exactly, by each decider on the same sample.
//!
//! The windows are those of [`Shape::standard`] with values and branches. The pairs are drawn from what the quick check
//! leaves: conflicting accesses of different threads that neither locks nor the must-order keep apart. Half of them are
//! near each other, since those are the ones that other filters tend to settle, half are not.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use foretell_detect::{Pair, Pairs, Reports};
use foretell_predict::{self as predict, Budget, NoSolver, Predictor, Technique};
use foretell_smt::Formula;
use foretell_smt::window::Window;
use foretell_smt::z3::{Solver, Verdict};
use foretell_testkit::busy::{self, Shape};
use foretell_testkit::locked::{self, LockedTrace};
use foretell_testkit::random::Random;
use foretell_trace::{EventId, Trace, TraceError};

use super::cpu::CpuTime;
use super::record::{Record, Row, Target};

/// Sizes of windows, and how many pairs of each are decided.
const SAMPLES: [(usize, usize); 3] = [(200, 40), (500, 20), (1000, 8)];

/// The pairs of a sample come from so many windows.
const WINDOWS: usize = 4;

/// Pairs fewer events apart than this are near.
const NEAR: usize = 300;

/// How many near pairs of a long trace are decided.
const NEAR_PAIRS: usize = 400;

/// How long a solver may take for one pair.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How long we ourselves may take for one pair: the default of the command line.
const BUDGET: Duration = Duration::from_secs(60);

/// A decider that has taken so long for a sample is not asked about the rest of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a decider says about one pair.
pub(crate) struct Decision {
    /// Whether it is a race; `None` if the time was up.
    pub(crate) race: Option<bool>,
    /// CPU time that it took.
    pub(crate) cpu: Duration,
}

/// A window and the pairs to be decided in it.
pub(crate) struct Sample {
    pub(crate) trace: Trace,
    pub(crate) pairs: Vec<Pair>,
}

/// Decides the pairs of one window, one after the other.
type Decide<'t> = Box<dyn FnMut(Pair) -> Result<Decision, String> + 't>;

/// A way of deciding: its name, and how it prepares itself for a window. What it does there is not counted, as it is
/// shared by all pairs of the window.
type Decider = (&'static str, fn(&Trace) -> Result<Decide<'_>, String>);

/// Ours comes first: the others are measured against it. A further way of deciding is a further line here.
const DECIDERS: [Decider; 3] = [
    ("rv", rv),
    ("z3, formula as published", |trace| z3(Formula::Published, trace)),
    ("z3, exact formula", |trace| z3(Formula::Exact, trace)),
];

/// How many times faster than Z3 we want to be, by the size of the window.
fn speed_up(events: usize) -> Option<Target> {
    match events {
        500 => Some(Target::AtLeast(100.0)),
        1000 => Some(Target::AtLeast(500.0)),
        _ => None,
    }
}

/// One row for each size and decider, and how many times slower than ours the others are.
pub(crate) fn deciding(record: &mut Record) -> Result<(), String> {
    for (events, count) in SAMPLES {
        let samples = samples(events, count)?;
        let mut ours = None;
        for (name, prepare) in DECIDERS {
            let decisions = decide_all(&samples, prepare)?;
            record.add(Row::decisions(format!("{name}, {events} events"), &decisions, count, None));
            match ours {
                None => ours = Some(mean(&decisions)),
                Some(ours) => {
                    let what = format!("{name}, over rv, {events} events");
                    record.add(Row::times(what, mean(&decisions), ours, speed_up(events)));
                }
            }
        }
    }
    Ok(())
}

/// What our own decision costs where Z3 is out of the question, and whether that depends on the length of the trace.
pub(crate) fn exact(record: &mut Record) -> Result<(), String> {
    for (events, count) in [(1000, 400), (10_000, 200)] {
        let decisions = decide_all(&samples(events, count)?, rv)?;
        let what = format!("rv, {events} events");
        record.add(Row::decisions(what.clone(), &decisions, count, Some(Target::AtMost(50.0))));
        record.add(Row::median(what.clone(), &decisions, Target::AtMost(1.0)));
        let undecided = decisions.iter().filter(|decision| decision.race.is_none()).count();
        record.add(Row::count(format!("{what}: undecided"), undecided, Target::AtMost(0.0)));
    }
    growth(record, "slips", |events| {
        let shape = locked::Shape { values: true, ..locked::Shape::standard(events) };
        Trace::read(Box::new(LockedTrace::new(shape)))
    })?;
    growth(record, "busy", |events| {
        let shape = Shape { locks: 20, racy_vars: 24, channels: 7, ..Shape::standard(events) };
        Trace::read(Box::new(busy::trace(shape)))
    })
}

/// How the cost of near pairs grows with the length of the trace.
fn growth(
    record: &mut Record,
    name: &str,
    trace: impl Fn(usize) -> Result<Trace, TraceError>,
) -> Result<(), String> {
    let mut shortest = None;
    for events in [10_000, 100_000, 1_000_000] {
        let sample = near_sample(trace(events).map_err(|error| error.to_string())?, NEAR_PAIRS)?;
        let decisions = decide_all(std::slice::from_ref(&sample), rv)?;
        let what = format!("rv, near pairs, {name}, {events} events");
        record.add(Row::decisions(what.clone(), &decisions, sample.pairs.len(), None));
        let cost = (mean(&decisions), median(&decisions));
        let shortest = *shortest.get_or_insert(cost);
        let target = Some(Target::AtMost(2.0));
        record.add(Row::times(format!("{what}, mean over 10000"), cost.0, shortest.0, target));
        record.add(Row::times(format!("{what}, median over 10000"), cost.1, shortest.1, target));
    }
    Ok(())
}

/// CPU milliseconds for a pair.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn mean(decisions: &[Decision]) -> f64 {
    let sum: Duration = decisions.iter().map(|decision| decision.cpu).sum();
    1e3 * sum.as_secs_f64() / decisions.len().max(1) as f64
}

/// CPU milliseconds for the pair in the middle.
pub(crate) fn median(decisions: &[Decision]) -> f64 {
    let mut times: Vec<f64> = decisions.iter().map(|decision| 1e3 * decision.cpu.as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Our own decider, with the default budget.
fn rv(trace: &Trace) -> Result<Decide<'_>, String> {
    let predictor =
        Predictor::new(trace, Technique::Rv, None, Arc::new(NoSolver)).ok_or("rv decides pairs")?;
    let stop = AtomicBool::new(false);
    predictor.prepare(&stop);
    Ok(Box::new(move |pair| {
        let begin = CpuTime::of_this_thread();
        let verdict = predictor.decide(pair, &Budget { per_pair: BUDGET, stop: &stop });
        let cpu = Duration::from_secs_f64(begin.elapsed());
        let race = match verdict {
            predict::Verdict::Reached(_) => Some(true),
            predict::Verdict::Unreachable(_) => Some(false),
            predict::Verdict::NotInWindow | predict::Verdict::Undecided(_) => None,
        };
        Ok(Decision { race, cpu })
    }))
}

/// One long trace and pairs of it that are near each other.
fn near_sample(trace: Trace, count: usize) -> Result<Sample, String> {
    let mut random = Random::new(1);
    let mut pairs = Vec::new();
    while pairs.len() < count {
        let place = random.below(trace.events().len() - NEAR);
        pairs.extend(conflict_after(&trace, place));
    }
    Ok(Sample { trace, pairs })
}

/// The event at this place and the next one that conflicts with it, if that is near.
fn conflict_after(trace: &Trace, place: usize) -> Option<Pair> {
    let events = &trace.events()[place..place + NEAR];
    let (first, access) = (events[0], events[0].op.access()?);
    let conflicts = |event: &foretell_trace::Event| {
        event.thread != first.thread && event.op.access().is_some_and(|other| other.conflicts_with(access))
    };
    let distance = events.iter().position(conflicts)?;
    Some(Pair { first: EventId::from_index(place)?, second: EventId::from_index(place + distance)? })
}

fn decide_all(
    samples: &[Sample],
    prepare: fn(&Trace) -> Result<Decide<'_>, String>,
) -> Result<Vec<Decision>, String> {
    let begin = Instant::now();
    let mut decisions = Vec::new();
    for sample in samples {
        let mut decide = prepare(&sample.trace)?;
        for &pair in &sample.pairs {
            if begin.elapsed() < PATIENCE {
                decisions.push(decide(pair)?);
            }
        }
    }
    Ok(decisions)
}

/// Z3 on a formula; what counts is the check alone, not the reading of the formula.
fn z3(formula: Formula, trace: &Trace) -> Result<Decide<'_>, String> {
    let window = Window::new(trace).map_err(|error| error.to_string())?;
    let mut solver = Solver::start(TIMEOUT).map_err(|error| error.to_string())?;
    Ok(Box::new(move |pair| {
        let text = formula.text(&window, (pair.first, pair.second));
        let answer = solver.check(&text).map_err(|error| error.to_string())?;
        let race = match answer.verdict {
            Verdict::Sat => Some(true),
            Verdict::Unsat => Some(false),
            Verdict::Unknown => None,
        };
        Ok(Decision { race, cpu: answer.solving })
    }))
}

/// So many pairs, spread over several windows of this size.
pub(crate) fn samples(events: usize, count: usize) -> Result<Vec<Sample>, String> {
    (0..WINDOWS)
        .map(|number| {
            let seed = number as u64 + 1;
            let script = busy::trace(Shape { seed, ..Shape::standard(events) });
            let trace = Trace::read(Box::new(script)).map_err(|error| error.to_string())?;
            let pairs = draw(candidates(&trace), count / WINDOWS, &mut Random::new(seed));
            Ok(Sample { trace, pairs })
        })
        .collect()
}

/// What the quick check leaves.
fn candidates(trace: &Trace) -> Vec<Pair> {
    let mut reports = Reports::new(Pairs::All);
    if let Some(mut detector) = Technique::Lockset.detector() {
        detector.batch(EventId::FIRST, trace.events(), &mut reports);
        detector.finish(&mut reports);
    }
    reports.pairs().to_vec()
}

/// Draws so many pairs, half of them near as far as there are enough of either kind.
fn draw(pairs: Vec<Pair>, count: usize, random: &mut Random) -> Vec<Pair> {
    let is_near = |pair: &Pair| pair.second.index() - pair.first.index() < NEAR;
    let (mut near, mut far): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(is_near);
    let mut drawn = Vec::new();
    while drawn.len() < count && !(near.is_empty() && far.is_empty()) {
        let wants_near = drawn.len() % 2 == 0;
        let from = if far.is_empty() || (wants_near && !near.is_empty()) { &mut near } else { &mut far };
        let place = random.below(from.len());
        drawn.push(from.swap_remove(place));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_sample_is_near() {
        let samples = samples(1000, 40).unwrap();
        let pairs: Vec<Pair> = samples.iter().flat_map(|sample| sample.pairs.iter().copied()).collect();
        assert_eq!(pairs.len(), 40);
        let near = pairs.iter().filter(|pair| pair.second.index() - pair.first.index() < NEAR).count();
        assert_eq!(near, 20);
    }

    #[test]
    fn deciders_answer_pairs_of_a_small_window() {
        let samples = samples(60, 8).unwrap();
        for (name, prepare) in DECIDERS {
            let decisions = decide_all(&samples, prepare).unwrap();
            assert_eq!(decisions.len(), 8, "{name}");
            assert!(decisions.iter().all(|decision| decision.race.is_some()), "{name}");
        }
    }
}
