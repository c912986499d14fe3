//! What it costs to decide one pair of accesses exactly, by each decider on the same sample.
//!
//! The windows are those of [`Shape::standard`] with values and branches. The pairs are drawn from what the quick check
//! leaves: conflicting accesses of different threads that neither locks nor the must-order keep apart. Half of them are
//! near each other, since those are the ones that other filters tend to settle, half are not.

use std::time::{Duration, Instant};

use foretell_detect::{Pair, Pairs, Reports};
use foretell_predict::Technique;
use foretell_smt::Formula;
use foretell_smt::window::Window;
use foretell_smt::z3::{Solver, Verdict};
use foretell_testkit::busy::{self, Shape};
use foretell_testkit::random::Random;
use foretell_trace::{EventId, Trace};

use super::record::{Record, Row};

/// Sizes of windows, and how many pairs of each are decided.
const SAMPLES: [(usize, usize); 3] = [(200, 40), (500, 20), (1000, 8)];

/// The pairs of a sample come from so many windows.
const WINDOWS: usize = 4;

/// Pairs fewer events apart than this are near.
const NEAR: usize = 300;

/// How long a solver may take for one pair.
const TIMEOUT: Duration = Duration::from_secs(20);

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
struct Sample {
    trace: Trace,
    pairs: Vec<Pair>,
}

/// Decides the pairs of one window, one after the other.
type Decide<'t> = Box<dyn FnMut(Pair) -> Result<Decision, String> + 't>;

/// A way of deciding: its name, and how it prepares itself for a window. What it does there is not counted, as it is
/// shared by all pairs of the window.
type Decider = (&'static str, fn(&Trace) -> Result<Decide<'_>, String>);

/// A further way of deciding is a further line here.
const DECIDERS: [Decider; 2] = [
    ("z3, formula as published", |trace| z3(Formula::Published, trace)),
    ("z3, exact formula", |trace| z3(Formula::Exact, trace)),
];

/// One row for each size and decider.
pub(crate) fn deciding(record: &mut Record) -> Result<(), String> {
    for (events, count) in SAMPLES {
        let samples = samples(events, count)?;
        for (name, prepare) in DECIDERS {
            let decisions = decide_all(&samples, prepare)?;
            record.add(Row::decisions(format!("{name}, {events} events"), &decisions, count));
        }
    }
    Ok(())
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
fn samples(events: usize, count: usize) -> Result<Vec<Sample>, String> {
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
