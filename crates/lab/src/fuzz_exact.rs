//! `cargo xtask fuzz-exact`: the exact techniques before the exhaustive oracle, on random traces, for as long as one
//! likes. The test suite does the same with fixed seeds.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_predict::{Budget, Pinning, Predictor, Technique, Verdict, conflicting_pairs};
use foretell_testkit::depending;
use foretell_testkit::random::Random;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Claim, Model, Proof, Referee, oracle};

const MODELS: [(Technique, Model); 4] = [
    (Technique::Rf, Model::SameWrite),
    (Technique::Mcm, Model::SameValue),
    (Technique::Rv, Model::ControlFlow),
    (Technique::RvNre, Model::Necessary),
];
/// A trace with more states than this is left out: it would take too long.
const STATES: usize = 300_000;
/// How often progress is told.
const NEWS: Duration = Duration::from_secs(10);

/// Runs for a number of seconds, or until a disagreement or Ctrl-C.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let (seconds, seed) = match args {
        [] => (None, None),
        [seconds] => (Some(number(seconds)?), None),
        [seconds, seed] => (Some(number(seconds)?), Some(number(seed)?)),
        _ => return Err("usage: cargo xtask fuzz-exact [SECONDS [SEED]]".to_string()),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let mut seeds = Random::new(seed.unwrap_or(now));
    let begin = Instant::now();
    let mut told = Duration::ZERO;
    let mut tally = Tally::default();
    while seconds.is_none_or(|seconds| begin.elapsed() < Duration::from_secs(seconds)) {
        let seed = seeds.bits();
        let text = tiny::trace(seed, shape(&mut Random::new(seed)));
        // Every other trace tells which reads matter.
        let complete = if seed.is_multiple_of(2) { depending::at_random } else { |_, trace| trace };
        let trace = complete(seed, foretell_testkit::trace(&text));
        compare(&trace, &mut tally).map_err(|wrong| format!("{wrong}\n{text}{:?}", trace.dependence()))?;
        if begin.elapsed() > told + NEWS {
            told = begin.elapsed();
            println!("{tally} in {} s", told.as_secs());
        }
    }
    println!("{tally}: all answers agree");
    Ok(ExitCode::SUCCESS)
}

#[derive(Default)]
struct Tally {
    traces: u64,
    too_large: u64,
    races: usize,
    refuted: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { traces, too_large, races, refuted } = self;
        write!(f, "{traces} traces ({too_large} too large), {races} races, {refuted} pairs refuted")
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a number instead of `{text}`"))
}

/// Any features, any size that the oracle can go through.
fn shape(random: &mut Random) -> Shape {
    let mut some = || random.once_in(2);
    let features = Features {
        values: some(),
        unexplained: some() && some(),
        branches: some() || some(),
        forks: some(),
        shared_locks: some(),
        upgrades: some(),
        failed_attempts: some(),
        semaphores: some(),
        waiting: some(),
        heap: some(),
        atomics: some(),
    };
    Shape {
        threads: 2 + random.below(5),
        decisive: random.once_in(2),
        locks: 1 + random.below(4),
        vars: 1 + random.below(4),
        ..Shape::new(features, 8 + random.below(14))
    }
}

fn compare(trace: &Trace, tally: &mut Tally) -> Result<(), String> {
    tally.traces += 1;
    for (technique, model) in MODELS {
        let Some(races) = oracle::races(trace, model, STATES) else {
            tally.too_large += 1;
            return Ok(());
        };
        for window in [None, Some(trace.events().len() / 2 + 2)] {
            let (proven, refuted) = answers(technique, trace, window)?;
            let agree = match window {
                None => proven == races,
                Some(_) => proven.is_subset(&races) && refuted.is_disjoint(&races),
            };
            if !agree {
                return Err(format!(
                    "{technique:?}, window {window:?}: {proven:?}, but the oracle says {races:?}"
                ));
            }
            tally.races += proven.len();
            tally.refuted += refuted.len();
        }
    }
    Ok(())
}

type Races = BTreeSet<(EventId, EventId)>;

/// The pairs that the technique proves, each accepted by the referee, and those that it refutes.
fn answers(technique: Technique, trace: &Trace, window: Option<usize>) -> Result<(Races, Races), String> {
    let predictor = Predictor::new(trace, technique, window).ok_or("the technique decides no pairs")?;
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let (mut proven, mut refuted) = (Races::new(), Races::new());
    for pair in conflicting_pairs(trace) {
        let events = (pair.first, pair.second);
        match predictor.decide(pair, &budget) {
            Verdict::Race(witness) => {
                let model = match witness.pinning {
                    Pinning::SameWrite => Model::SameWrite,
                    Pinning::SameValue => Model::SameValue,
                    Pinning::ControlFlow => Model::ControlFlow,
                    Pinning::Necessary => Model::Necessary,
                    Pinning::Values => Model::Values,
                };
                let proof = Proof::Adjacent { model, schedule: witness.schedule };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                referee.check(claim).map_err(|rejection| format!("{technique:?} {pair:?}: {rejection}"))?;
                proven.insert(events);
            }
            Verdict::NoRace(_) => {
                refuted.insert(events);
            }
            Verdict::NotInWindow if window.is_some() => {}
            other => return Err(format!("{technique:?} {pair:?}: {other:?}")),
        }
    }
    Ok((proven, refuted))
}
