//! `cargo xtask fuzz-exact`: the exact techniques and the exploration of traces before the exhaustive oracle, and all
//! of them before a brute force that knows only the description of the trace format. On random traces, every other of
//! which is crowded: several waiters and notifications, barriers that are crossed again and again, semaphores with
//! several posts. For as long as one likes, or for so many traces. The test suite does the same with fixed seeds.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_detect::Pairs;
use foretell_explore::{self as exploring, Closure};
use foretell_predict::{
    Budget, Certified, Certifier, Goal, Limit, Portfolio, Predictor, Technique, Verdict, Waits,
    conflicting_pairs,
};
use foretell_testkit::brute::{self, Rules};
use foretell_testkit::depending;
use foretell_testkit::random::Random;
use foretell_testkit::spinning;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Op, Trace};
use foretell_witness::proof::{self, TraceFacts};
use foretell_witness::{Claim, Model, Proof, Referee, StuckClaim, oracle};
use foretell_z3::Pool;

pub(crate) const MODELS: [(Technique, Model); 4] = [
    (Technique::Rf, Model::SameWrite),
    (Technique::Mcm, Model::SameValue),
    (Technique::Rv, Model::ControlFlow),
    (Technique::RvNre, Model::Necessary),
];
const RULES: [(Model, Rules); 3] = [
    (Model::SameWrite, Rules::SameWrite),
    (Model::SameValue, Rules::SameValue),
    (Model::ControlFlow, Rules::ControlFlow),
];
/// By how many events windows around a pair exceed it, so that tiny traces have several.
const MARGINS: [&[u32]; 2] = [&[0, 2, 5, 9], &[100]];
/// A trace with more states than this is left out: it would take too long.
const STATES: usize = 300_000;
/// The brute force has more, and is slower.
const BRUTE_STATES: usize = 20_000;
/// How often progress is reported.
const NEWS: Duration = Duration::from_secs(10);

/// Runs for a number of seconds, or until a disagreement or Ctrl-C.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let usage = "usage: cargo xtask fuzz-exact [SECONDS [SEED]], or traces COUNT [SEED]";
    let (seconds, traces, seed) = match args {
        [] => (None, None, None),
        [word, count] if word == "traces" => (None, Some(number(count)?), None),
        [word, count, seed] if word == "traces" => (None, Some(number(count)?), Some(number(seed)?)),
        [seconds] => (Some(number(seconds)?), None, None),
        [seconds, seed] => (Some(number(seconds)?), None, Some(number(seed)?)),
        _ => return Err(usage.to_string()),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let mut seeds = Random::new(seed.unwrap_or(now));
    let begin = Instant::now();
    let mut told = Duration::ZERO;
    let mut tally = Tally::default();
    while seconds.is_none_or(|seconds| begin.elapsed() < Duration::from_secs(seconds))
        && traces.is_none_or(|traces| tally.traces - tally.too_large < traces)
    {
        let seed = seeds.bits();
        let random = &mut Random::new(seed);
        // Every third is one of threads that synchronise by atomic variables.
        let text = if random.once_in(3) {
            spinning::trace(seed, 2 + random.below(3), 10 + random.below(10))
        } else {
            tiny::trace(seed, shape(random))
        };
        // Every other trace tells which reads matter.
        let complete = if seed.is_multiple_of(2) { depending::at_random } else { |_, trace| trace };
        let trace = complete(seed, foretell_testkit::trace(&text));
        compare(&text, &trace, &mut tally)
            .map_err(|wrong| format!("{wrong}\n{text}{:?}", trace.dependence()))?;
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
    crowded: Crowded,
    races: usize,
    deadlocks: usize,
    refuted: usize,
    certificates: usize,
}

/// How many traces have several of what threads wait for.
#[derive(Default)]
struct Crowded {
    notifications: u64,
    crossings: u64,
    posts: u64,
    /// At least one of these.
    any: u64,
}

impl Crowded {
    fn add(&mut self, trace: &Trace) {
        let count = |is: fn(&Op) -> bool| trace.events().iter().filter(|event| is(&event.op)).count();
        let waits = count(|op| matches!(op, Op::Wait { .. }));
        let notifications = count(|op| matches!(op, Op::Notify(_) | Op::NotifyAll(_)));
        let posts = count(|op| matches!(op, Op::SemPost(_)));
        let has = [waits > 1 && notifications > 1, crossings(trace) > 1, posts > 1];
        self.notifications += u64::from(has[0]);
        self.crossings += u64::from(has[1]);
        self.posts += u64::from(has[2]);
        self.any += u64::from(has.contains(&true));
    }
}

/// How many generations the barriers of the trace have.
fn crossings(trace: &Trace) -> usize {
    let (mut count, mut arriving) = (0, false);
    for event in trace.events() {
        match event.op {
            Op::Arrive(_) => {
                count += usize::from(!std::mem::replace(&mut arriving, true));
            }
            Op::Depart(_) => arriving = false,
            _ => {}
        }
    }
    count
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { traces, too_large, races, deadlocks, refuted, certificates, crowded } = self;
        let Crowded { notifications, crossings, posts, any } = crowded;
        write!(
            f,
            "{traces} traces ({too_large} too large; of the others {any} with several notifications ({notifications}), \
             crossings ({crossings}) or posts ({posts})), {races} races, {deadlocks} deadlocks, {refuted} candidates refuted, \
             {certificates} certificates accepted"
        )
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a number instead of `{text}`"))
}

/// Any features, any size that the oracle can go through.
pub(crate) fn shape(random: &mut Random) -> Shape {
    let crowds = !random.once_in(3);
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
        waiting: crowds || some(),
        crowds,
        heap: some(),
        atomics: some(),
    };
    Shape {
        threads: 2 + random.below(5),
        decisive: random.once_in(2),
        locks: 1 + random.below(4),
        locking: random.once_in(2),
        vars: 1 + random.below(4),
        ..Shape::new(features, 8 + random.below(14))
    }
}

fn compare(text: &str, trace: &Trace, tally: &mut Tally) -> Result<(), String> {
    tally.traces += 1;
    if !compare_with_description(text, trace)? {
        tally.too_large += 1;
        return Ok(());
    }
    tally.crowded.add(trace);
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
        compare_deadlocks(technique, model, trace, tally)?;
        tally.certificates += certificates(technique, trace, &races)?;
    }
    Ok(())
}

/// How many pairs that are no races have certificates that the checker accepts; all must.
fn certificates(
    technique: Technique,
    trace: &Trace,
    races: &BTreeSet<(EventId, EventId)>,
) -> Result<usize, String> {
    let certifier =
        Certifier::new(trace, technique).ok_or_else(|| format!("{technique:?} has no certificates"))?;
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(600), stop: &stop };
    let facts = TraceFacts::new(trace);
    let mut count = 0;
    for pair in conflicting_pairs(trace) {
        let is_race = races.contains(&(pair.first, pair.second));
        match certifier.certify(pair, &budget) {
            Certified::Reached(_) if is_race => {}
            Certified::Undecided(Limit::Meeting) => {}
            Certified::Refuted(certificate) if !is_race => {
                let text = certificate.text();
                proof::check(&facts, &text)
                    .map_err(|refusal| format!("{technique:?} {pair:?}: {refusal} in\n{text}"))?;
                count += 1;
            }
            other => return Err(format!("{technique:?} {pair:?}, race: {is_race}, certifier: {other:?}")),
        }
    }
    Ok(count)
}

/// The deadlocks that the technique proves, and those that the oracle knows.
fn compare_deadlocks(
    technique: Technique,
    model: Model,
    trace: &Trace,
    tally: &mut Tally,
) -> Result<(), String> {
    let Some(all) = oracle::deadlocks(trace, model, STATES) else { return Ok(()) };
    let mut waits = Waits::default();
    waits.batch(EventId::FIRST, trace.events());
    let candidates = waits.deadlocks(Pairs::All, || false);
    let predictor = Predictor::new(trace, technique, None, Arc::new(Pool::default()))
        .ok_or_else(|| format!("{technique:?} does not decide deadlocks"))?;
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(600), stop: &stop };
    let mut referee = Referee::new(trace);
    let mut proven = BTreeSet::new();
    for circle in candidates.circles.into_iter().flat_map(|circles| circles.circles) {
        match predictor.decide_goal(&Goal::from(&circle), &budget) {
            Verdict::Reached(witness) => {
                let claim = StuckClaim {
                    waits: circle.waits.clone(),
                    ended: circle.ended,
                    model: witness.model,
                    schedule: witness.schedule,
                };
                referee.check_stuck(claim).map_err(|rejection| {
                    format!("{technique:?}: the referee rejects {circle:?}: {rejection}")
                })?;
                let mut waits = circle.waits;
                waits.sort_unstable();
                proven.insert((waits, circle.ended));
            }
            Verdict::Unreachable(_) => tally.refuted += 1,
            Verdict::Undecided(Limit::Meeting) => {}
            other => return Err(format!("{technique:?}: {circle:?}: {other:?}")),
        }
    }
    let all: BTreeSet<_> = all.into_keys().collect();
    if proven != all {
        return Err(format!("{technique:?}: the deadlocks {proven:?}, but the oracle says {all:?}"));
    }
    tally.deadlocks += proven.len();
    Ok(())
}

/// Whether oracle and exploration say what the description of the trace format says; false if that is too much to find
/// out.
fn compare_with_description(text: &str, trace: &Trace) -> Result<bool, String> {
    for (model, rules) in RULES {
        let Some(expected) = brute::races(text, rules, BRUTE_STATES) else { return Ok(false) };
        let Some(races) = oracle::races(trace, model, STATES) else { return Ok(false) };
        let races = numbers(&races);
        if races != expected {
            return Err(format!(
                "{model:?}: the oracle says {races:?}, but by brute force it is {expected:?}"
            ));
        }
        if model == Model::SameValue {
            let closure = Closure::new(trace, Vec::new()).ok_or("the trace has too many names")?;
            let stop = AtomicBool::new(false);
            let limits = exploring::Limits { memory: 1 << 30, max_steps: None, stop: &stop };
            let found = closure.explore(limits, &exploring::Progress::default());
            let found: Races = found.races.iter().map(|race| (race.first, race.second)).collect();
            if numbers(&found) != expected {
                return Err(format!("explored: {found:?}, but by brute force it is {expected:?}"));
            }
        }
    }
    Ok(true)
}

fn numbers(races: &Races) -> brute::Races {
    races.iter().map(|(first, second)| (first.number(), second.number())).collect()
}

type Races = BTreeSet<(EventId, EventId)>;

/// The pairs that the technique proves and those that it refutes, by whatever search, and however windows grow.
fn answers(technique: Technique, trace: &Trace, window: Option<usize>) -> Result<(Races, Races), String> {
    let answers = answers_by(technique, trace, window, Portfolio::All, MARGINS[0])?;
    for (portfolio, margins) in
        Portfolio::EACH.into_iter().flat_map(|one| MARGINS.map(|margins| (one, margins)))
    {
        let others = answers_by(technique, trace, window, portfolio, margins)?;
        if others != answers {
            return Err(format!(
                "{technique:?} by {portfolio:?}, {margins:?}: {others:?}, but by all searches {answers:?}"
            ));
        }
    }
    Ok(answers)
}

/// The pairs that the technique proves, each accepted by the referee, and those that it refutes.
fn answers_by(
    technique: Technique,
    trace: &Trace,
    window: Option<usize>,
    portfolio: Portfolio,
    margins: &'static [u32],
) -> Result<(Races, Races), String> {
    let predictor = Predictor::new(trace, technique, window, Arc::new(Pool::default()))
        .ok_or("the technique decides no pairs")?
        .searching_by(portfolio)
        .looking_around(margins);
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let (mut proven, mut refuted) = (Races::new(), Races::new());
    for pair in conflicting_pairs(trace) {
        let events = (pair.first, pair.second);
        match predictor.decide(pair, &budget) {
            Verdict::Reached(witness) => {
                let proof = Proof::Adjacent { model: witness.model, schedule: witness.schedule };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                referee.check(claim).map_err(|rejection| format!("{technique:?} {pair:?}: {rejection}"))?;
                proven.insert(events);
            }
            Verdict::Unreachable(_) => {
                refuted.insert(events);
            }
            Verdict::NotInWindow if window.is_some() => {}
            Verdict::Undecided(Limit::Meeting) => {}
            other => return Err(format!("{technique:?} {pair:?}: {other:?}")),
        }
    }
    Ok((proven, refuted))
}
