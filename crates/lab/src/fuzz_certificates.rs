//! `cargo xtask fuzz-certificates`: on random traces, each pair that is no race by the exhaustive oracle has a
//! certificate that the checker accepts, in both forms, and each race has a schedule that the referee accepts;
//! likewise each candidate for a deadlock. Then certificates are changed, and what is still accepted must be true,
//! again by the oracle. The test suite does the same on fewer traces.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use foretell_detect::Pairs;
use foretell_predict::{
    Budget, Certificate, Certified, Certifier, Limit, Technique, Waits, conflicting_pairs,
};
use foretell_testkit::random::Random;
use foretell_testkit::{certificates, depending, tiny};
use foretell_trace::{EventId, Trace};
use foretell_witness::proof::{self, RefutedGoal, TraceFacts};
use foretell_witness::{Claim, Model, Proof, Referee, StuckClaim, oracle};

use crate::fuzz_exact::{MODELS, shape};

/// A trace with more states than this is left out: it would take too long.
const STATES: usize = 300_000;
/// So many changes are made to each form of a certificate.
const CHANGES: usize = 4;
/// How often progress is reported.
const NEWS: Duration = Duration::from_secs(30);

/// Runs on so many traces.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let number = |text: &String| text.parse().map_err(|_| format!("expected a number instead of `{text}`"));
    let (count, seed): (u64, u64) = match args {
        [count] => (number(count)?, 1),
        [count, seed] => (number(count)?, number(seed)?),
        _ => return Err("usage: cargo xtask fuzz-certificates TRACES [SEED]".to_string()),
    };
    let (mut seeds, mut tally) = (Random::new(seed), Tally::default());
    let (begin, mut told) = (Instant::now(), Duration::ZERO);
    while tally.traces < count {
        let seed = seeds.bits();
        let text = tiny::trace(seed, shape(&mut Random::new(seed)));
        let complete = if seed.is_multiple_of(2) { depending::at_random } else { |_, trace| trace };
        let trace = complete(seed, foretell_testkit::trace(&text));
        match certify(&trace, &mut Random::new(seed), &mut tally) {
            Ok(true) => tally.traces += 1,
            Ok(false) => tally.too_large += 1,
            Err(wrong) => return Err(format!("{wrong}\n{text}{:?}", trace.dependence())),
        }
        if begin.elapsed() > told + NEWS {
            told = begin.elapsed();
            println!("{tally} in {} s", told.as_secs());
        }
    }
    println!("{tally}: all is as it should be");
    Ok(ExitCode::SUCCESS)
}

#[derive(Default)]
struct Tally {
    traces: u64,
    too_large: u64,
    races: usize,
    certificates: usize,
    deadlocks: usize,
    refuted_deadlocks: usize,
    changed: usize,
    still_accepted: usize,
    undecided: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { traces, too_large, races, certificates, deadlocks, refuted_deadlocks, .. } = self;
        let Tally { changed, still_accepted, undecided, .. } = self;
        write!(
            f,
            "{traces} traces ({too_large} more were too large), {races} races, {certificates} certificates accepted, \
             {deadlocks} deadlocks, {refuted_deadlocks} candidates for deadlocks with accepted certificates, {undecided} \
             undecided for barriers of unknown size; {changed} certificates changed, of which {still_accepted} are still \
             accepted, and true"
        )
    }
}

/// What schedules reach, by the oracle.
struct Reachable {
    races: BTreeMap<Model, BTreeSet<oracle::Pair>>,
    deadlocks: BTreeMap<Model, BTreeSet<oracle::Circle>>,
}

impl Reachable {
    /// Unless there is too much.
    fn new(trace: &Trace) -> Option<Reachable> {
        let (mut races, mut deadlocks) = (BTreeMap::new(), BTreeMap::new());
        for (_, model) in MODELS {
            races.insert(model, oracle::races(trace, model, STATES)?);
            deadlocks.insert(model, oracle::deadlocks(trace, model, STATES)?.into_keys().collect());
        }
        Some(Reachable { races, deadlocks })
    }

    fn has(&self, model: Model, goal: &RefutedGoal) -> bool {
        match goal {
            RefutedGoal::Race(first, second) => self.races[&model].contains(&(*first, *second)),
            RefutedGoal::Deadlock { waits, ended } => {
                let mut waits = waits.clone();
                waits.sort_unstable();
                self.deadlocks[&model].contains(&(waits, *ended))
            }
        }
    }
}

/// Certifies all that can be asked about the trace; false if it is too large.
fn certify(trace: &Trace, random: &mut Random, tally: &mut Tally) -> Result<bool, String> {
    let Some(reachable) = Reachable::new(trace) else { return Ok(false) };
    let facts = TraceFacts::new(trace);
    let mut referee = Referee::new(trace);
    for (technique, model) in MODELS {
        let asked = Asked { trace, facts: &facts, reachable: &reachable, technique, model };
        asked.races(&mut referee, random, tally)?;
        asked.deadlocks(&mut referee, random, tally)?;
    }
    Ok(true)
}

/// What one technique is asked about one trace.
struct Asked<'a> {
    trace: &'a Trace,
    facts: &'a TraceFacts<'a>,
    reachable: &'a Reachable,
    technique: Technique,
    model: Model,
}

impl Asked<'_> {
    fn certifier(&self) -> Result<Certifier<'_>, String> {
        Certifier::new(self.trace, self.technique)
            .ok_or_else(|| format!("{:?} has no certificates", self.technique))
    }

    fn races(&self, referee: &mut Referee<'_>, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
        let (certifier, stop) = (self.certifier()?, AtomicBool::new(false));
        let budget = Budget { per_pair: Duration::from_secs(600), stop: &stop };
        for pair in conflicting_pairs(self.trace) {
            let goal = RefutedGoal::Race(pair.first, pair.second);
            let is_race = self.reachable.has(self.model, &goal);
            match certifier.certify(pair, &budget) {
                Certified::Reached(witness) if is_race => {
                    let proof = Proof::Adjacent { model: witness.model, schedule: witness.schedule };
                    let claim = Claim { first: pair.first, second: pair.second, proof };
                    referee.check(claim).map_err(|rejection| format!("{pair:?}: {rejection}"))?;
                    tally.races += 1;
                }
                Certified::Refuted(certificate) if !is_race => {
                    self.accepted(&certificate, &goal, random, tally)?;
                    tally.certificates += 1;
                }
                Certified::Undecided(Limit::Meeting) => tally.undecided += 1,
                other => {
                    return Err(format!("{:?} {pair:?}, race: {is_race}, but: {other:?}", self.technique));
                }
            }
        }
        Ok(())
    }

    fn deadlocks(
        &self,
        referee: &mut Referee<'_>,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let (certifier, stop) = (self.certifier()?, AtomicBool::new(false));
        let budget = Budget { per_pair: Duration::from_secs(600), stop: &stop };
        let mut waits = Waits::default();
        waits.batch(EventId::FIRST, self.trace.events());
        let candidates = waits.deadlocks(Pairs::All, || false).circles;
        for circle in candidates.into_iter().flat_map(|circles| circles.circles) {
            let goal = RefutedGoal::Deadlock { waits: circle.waits.clone(), ended: circle.ended };
            let is_deadlock = self.reachable.has(self.model, &goal);
            match certifier.certify(&circle, &budget) {
                Certified::Reached(witness) if is_deadlock => {
                    let claim = StuckClaim {
                        waits: circle.waits.clone(),
                        ended: circle.ended,
                        model: witness.model,
                        schedule: witness.schedule,
                    };
                    referee.check_stuck(claim).map_err(|rejection| format!("{circle:?}: {rejection}"))?;
                    tally.deadlocks += 1;
                }
                Certified::Refuted(certificate) if !is_deadlock => {
                    self.accepted(&certificate, &goal, random, tally)?;
                    tally.refuted_deadlocks += 1;
                }
                Certified::Undecided(Limit::Meeting) => tally.undecided += 1,
                other => {
                    let technique = self.technique;
                    return Err(format!("{technique:?} {circle:?}, deadlock: {is_deadlock}, but: {other:?}"));
                }
            }
        }
        Ok(())
    }

    /// The certificate is accepted, and with something changed proves nothing false.
    fn accepted(
        &self,
        certificate: &Certificate,
        goal: &RefutedGoal,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let text = certificate.text();
        let binary = [Certificate::MAGIC, &certificate.binary()].concat();
        for form in [text.as_bytes(), &binary] {
            match proof::check(self.facts, form) {
                Ok(refuted) if refuted.goal() == goal => {}
                other => return Err(format!("{:?} {goal:?}: {other:?} for\n{text}", self.technique)),
            }
        }
        for _ in 0..CHANGES {
            let changed = certificates::change(&text, self.trace.events().len(), random);
            self.judge(changed.as_bytes(), tally).map_err(|wrong| format!("{wrong}\n{changed}"))?;
            let damaged = certificates::damage(&binary, random);
            self.judge(&damaged, tally).map_err(|wrong| format!("{wrong}\n{damaged:?}, from\n{text}"))?;
        }
        Ok(())
    }

    fn judge(&self, certificate: &[u8], tally: &mut Tally) -> Result<(), String> {
        tally.changed += 1;
        let Ok(refuted) = proof::check(self.facts, certificate) else { return Ok(()) };
        tally.still_accepted += 1;
        match self.reachable.has(refuted.model(), refuted.goal()) {
            false => Ok(()),
            true => Err(format!("a false certificate is accepted: {:?}", refuted.goal())),
        }
    }
}
