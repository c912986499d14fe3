//! What the techniques say about a trace: what they report, and what of that the referee accepts. The same as
//! `foretell predict --pairs all` does, in short.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_cimp::record::detours::Detour;
use foretell_detect::{Pair, Pairs, Reports};
use foretell_predict::{Budget, Limit, Pinning, Predictor, Scheduler, Technique, Verdict, conflicting_pairs};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Claim, Finding, Model, Proof, Referee, UnorderedReferee};
use foretell_z3::Pool;

/// The answer of one technique.
pub(crate) struct Answer {
    /// What it reports.
    pub(crate) reported: Vec<Pair>,
    /// What of that is proven.
    pub(crate) proven: Vec<Finding>,
}

/// Asks the technique. An error means that one of its schedules is wrong, though it decides exactly.
pub(crate) fn ask(technique: Technique, trace: &Trace) -> Result<Answer, String> {
    match Predictor::new(trace, technique, None, Arc::new(Pool::default())) {
        Some(predictor) => decide(technique, trace, &predictor, conflicting_pairs(trace).into_iter()),
        None => Ok(detect(technique, trace)),
    }
}

/// The races that `recipe` proves of what a thread does on a way that it did not go.
pub(crate) fn ask_detour(detour: &Detour) -> Result<Vec<Finding>, String> {
    let trace = &detour.trace;
    let Some(predictor) = Predictor::new(trace, Technique::Recipe, None, Arc::new(Pool::default())) else {
        return Ok(Vec::new());
    };
    let is_added = |event| detour.added.binary_search(&event).is_ok();
    let pairs =
        conflicting_pairs(trace).into_iter().filter(|pair| is_added(pair.first) || is_added(pair.second));
    decide(Technique::Recipe, trace, &predictor, pairs).map(|answer| answer.proven)
}

fn decide(
    technique: Technique,
    trace: &Trace,
    predictor: &Predictor<'_>,
    pairs: impl Iterator<Item = Pair>,
) -> Result<Answer, String> {
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let mut answer = Answer { reported: Vec::new(), proven: Vec::new() };
    for pair in pairs {
        match predictor.decide(pair, &budget) {
            Verdict::Race(witness) => {
                let proof = Proof::Adjacent { model: model(witness.pinning), schedule: witness.schedule };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                let checked = referee.check(claim);
                answer.proven.push(checked.map_err(|why| format!("{} {pair:?}: {why}", technique.name()))?);
                answer.reported.push(pair);
            }
            Verdict::NoRace(_) | Verdict::Undecided(Limit::Technique) => {}
            other => return Err(format!("{} {pair:?}: {other:?}", technique.name())),
        }
    }
    Ok(answer)
}

fn model(pinning: Pinning) -> Model {
    match pinning {
        Pinning::SameWrite => Model::SameWrite,
        Pinning::SameValue => Model::SameValue,
        Pinning::ControlFlow => Model::ControlFlow,
        Pinning::Necessary => Model::Necessary,
        Pinning::Values => Model::Values,
    }
}

fn detect(technique: Technique, trace: &Trace) -> Answer {
    let mut reports = Reports::new(Pairs::All);
    if let Some(mut detector) = technique.detector() {
        detector.batch(EventId::FIRST, trace.events(), &mut reports);
        detector.finish(&mut reports);
    }
    let reported = reports.pairs().to_vec();
    let proven = match Scheduler::new(technique, trace) {
        Some(scheduler) => proven(&scheduler, trace, &reported),
        None => Vec::new(),
    };
    Answer { reported, proven }
}

/// The pairs whose schedule the referee accepts, and those that it finds unordered in the trace as it is.
fn proven(scheduler: &Scheduler<'_>, trace: &Trace, reported: &[Pair]) -> Vec<Finding> {
    let mut referee = Referee::new(trace);
    let mut second = UnorderedReferee::new(reported.iter().map(|pair| (pair.first, pair.second)).collect());
    second.batch(EventId::FIRST, trace.events());
    let second_opinions = second.verdicts();
    let mut replayed = |pair: &Pair| {
        let proof = Proof::Adjacent { model: Model::SameWrite, schedule: scheduler.schedule(*pair)? };
        referee.check(Claim { first: pair.first, second: pair.second, proof }).ok()
    };
    let both = reported.iter().zip(second_opinions);
    both.filter_map(|(pair, second)| replayed(pair).or(second.ok())).collect()
}
