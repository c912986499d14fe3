//! Asking a technique about every conflicting pair of a small trace.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_predict::{Budget, Limit, Portfolio, Predictor, Technique, Verdict, conflicting_pairs};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Claim, Proof, Referee};
use foretell_z3::Pool;

pub(crate) type Races = BTreeSet<(EventId, EventId)>;

/// The pairs that the technique proves, each of which the referee accepts.
pub(crate) fn races(technique: Technique, trace: &Trace) -> Races {
    answers(technique, trace, None).0
}

/// The pairs that the technique proves, and those that it refutes.
pub(crate) fn answers(technique: Technique, trace: &Trace, window: Option<usize>) -> (Races, Races) {
    answers_by(technique, trace, window, Portfolio::All)
}

/// The same by these searches only.
pub(crate) fn answers_by(
    technique: Technique,
    trace: &Trace,
    window: Option<usize>,
    portfolio: Portfolio,
) -> (Races, Races) {
    let predictor = Predictor::new(trace, technique, window, Arc::new(Pool::default()))
        .expect("the technique decides pairs")
        .searching_by(portfolio);
    // Tiny traces have several windows, too, but for the searches that are asked alone.
    let is_tiny = trace.events().len() < 50 && portfolio == Portfolio::All;
    let predictor = if is_tiny { predictor.looking_around(&[0, 2, 5, 9]) } else { predictor };
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let (mut found, mut refuted) = (Races::new(), Races::new());
    for pair in conflicting_pairs(trace) {
        match predictor.decide(pair, &budget) {
            Verdict::Reached(witness) => {
                let proof = Proof::Adjacent { model: witness.model, schedule: witness.schedule.clone() };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                if let Err(rejection) = referee.check(claim) {
                    panic!("{technique:?} {pair:?} {:?}: {rejection}", witness.schedule);
                }
                found.insert((pair.first, pair.second));
            }
            Verdict::Unreachable(_) => {
                refuted.insert((pair.first, pair.second));
            }
            Verdict::NotInWindow if window.is_some() => {}
            Verdict::Undecided(Limit::Technique) if is_published(technique) => {}
            // Who meets whom is not known: the race is not found, nor is it refuted.
            Verdict::Undecided(Limit::Meeting) => {}
            other => panic!("{pair:?}: {other:?}"),
        }
    }
    (found, refuted)
}

/// Techniques as published may know neither a yes nor a no.
fn is_published(technique: Technique) -> bool {
    matches!(technique, Technique::M2 | Technique::SeqCheck | Technique::ReconP)
}
