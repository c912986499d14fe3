//! Techniques that decide pairs one by one: candidates, in parallel, each race through the referee.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foretell_detect::{Pair, Pairs};
use foretell_predict::{Bucket, Budget, Candidates, Key, Pinning, Predictor, Technique, Verdict, Witness};
use foretell_report::{NewValue, Race, Report};
use foretell_trace::Trace;
use foretell_witness::{Claim, Model, Proof, Referee};
use foretell_z3::Pool;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::bucket::{Tools, Worked, work};
use super::ledger::Ledger;
use super::{Judged, Plan, Printing, candidate};
use crate::error::Failure;
use crate::progress::Progress;
use crate::stop;

/// Witnesses wait in memory until those of a whole chunk can be put in order. So many of their steps may wait at once.
const STEPS_IN_WAITING: usize = 64 << 20;

/// One technique on one trace in memory.
pub(super) struct Exact<'a> {
    trace: &'a Trace,
    plan: &'a Plan,
    predictor: Predictor<'a>,
    referee: Referee<'a>,
    pool: ThreadPool,
    /// When no more pairs are to be begun.
    until: Option<Instant>,
}

impl<'a> Exact<'a> {
    pub(super) fn new(trace: &'a Trace, technique: Technique, plan: &'a Plan) -> Result<Exact<'a>, Failure> {
        let Some(predictor) = Predictor::new(trace, technique, plan.window, Arc::new(Pool::default())) else {
            return Err(Failure::Usage(format!("{} does not decide pairs one by one", technique.name())));
        };
        let pool = ThreadPoolBuilder::new().num_threads(plan.jobs).build();
        let pool =
            pool.map_err(|error| Failure::Usage(format!("cannot start {} jobs: {error}", plan.jobs)))?;
        Ok(Exact { trace, plan, predictor, referee: Referee::new(trace), pool, until: None })
    }

    /// The same, but no pair is begun after this.
    pub(super) fn until(self, until: Option<Instant>) -> Exact<'a> {
        Exact { until, ..self }
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Decides all candidates that the report does not yet list as proven, until it is full.
    pub(super) fn run(&self, report: &Report, printing: &mut Printing, progress: &Progress) -> Judged {
        let room = self.plan.max_races.saturating_sub(report.races.len());
        let mut ledger = Ledger::new(self.proven(report), room);
        let mut candidates = Candidates::new(&self.predictor, self.plan.pairs, stop::flag());
        let mut judged = Judged::default();
        let length = (STEPS_IN_WAITING / self.trace.events().len().max(1)).clamp(16, 4096);
        while !ledger.is_full()
            && let Some(batch) = candidates.next_batch(&|key| ledger.is_closed(key))
        {
            progress.expect(batch.len());
            for chunk in batch.chunks(length) {
                if ledger.is_full() || self.is_late() {
                    chunk.iter().for_each(|bucket| ledger.leave(bucket));
                    continue;
                }
                for (bucket, worked) in chunk.iter().zip(self.work(chunk, &ledger, printing.left, progress)) {
                    let race = ledger.enter(bucket, worked);
                    judged.races.extend(race.map(|race| printing.limit(race)));
                }
            }
        }
        judged.races.sort_by_key(|race| (race.first.event, race.second.event));
        judged.refuted = ledger.refuted;
        if ledger.is_full() {
            candidates.give_up();
            judged.not_examined = candidates.not_examined();
            judged.is_over_full = ledger.has_left_any() || judged.not_examined > 0;
        } else {
            judged.note_too_many(candidates.not_examined());
        }
        let (undecided, not_in_window, not_examined) = ledger.close();
        let listed = self.plan.max_races;
        judged.not_listed = undecided.len().saturating_sub(listed) as u64;
        judged.not_in_window = not_in_window;
        judged.not_examined += not_examined;
        let event = |id| self.trace.event(id);
        judged.candidates = undecided
            .into_iter()
            .take(listed)
            .map(|open| {
                let mut candidate = candidate(open.pair, open.reason, self.trace.names(), event);
                candidate.more = open.more;
                candidate
            })
            .collect();
        judged
    }

    /// What came of each bucket, in their order. Witnesses with more than `steps` steps are not kept.
    fn work(
        &self,
        chunk: &[Bucket],
        ledger: &Ledger,
        steps: usize,
        progress: &Progress,
    ) -> Vec<Worked<Race>> {
        let each = |referee: &mut Referee<'a>, bucket: &Bucket| {
            let budget = if self.is_late() { Duration::ZERO } else { self.plan.budget };
            let left = ledger.time_left(bucket.key, budget);
            let mut tools = Tools {
                decide: |pair, left| self.decide(pair, left),
                check: |pair, witness| {
                    let mut race = self.check(referee, pair, witness)?;
                    if race.witness_length.is_some_and(|length| length > steps) {
                        race.witness = None;
                    }
                    Ok(race)
                },
                is_stopped: stop::is_requested,
            };
            let worked = work(bucket, left, &mut tools);
            progress.worked();
            worked
        };
        self.pool.install(|| chunk.par_iter().map_init(|| self.referee.clone(), each).collect())
    }

    /// Asks the technique.
    fn decide(&self, pair: Pair, time: Duration) -> Verdict {
        self.predictor.decide(pair, &Budget { per_pair: time, stop: stop::flag() })
    }

    /// Asks the technique, and why not.
    pub(super) fn explain(&self, pair: Pair) -> Verdict {
        self.predictor.explain(pair, &Budget { per_pair: self.plan.budget, stop: stop::flag() })
    }

    /// Asks the referee. A schedule that he rejects is a fault of the technique, and no race.
    pub(super) fn check(
        &self,
        referee: &mut Referee<'_>,
        pair: Pair,
        witness: Witness,
    ) -> Result<Race, String> {
        referee_race(referee, self.trace, pair, witness)
    }

    pub(super) fn referee(&self) -> Referee<'a> {
        self.referee.clone()
    }

    /// What the report lists as proven.
    fn proven(&self, report: &Report) -> HashSet<Key> {
        let ends = |race: &Race| Some((self.trace.id(race.first.event)?, self.trace.id(race.second.event)?));
        let keys = report.races.iter().filter_map(ends).map(|(first, second)| match self.plan.pairs {
            Pairs::All => Key::Events(Pair { first, second }),
            Pairs::ByLocation => {
                let (a, b) = (self.trace.event(first).loc, self.trace.event(second).loc);
                Key::Locations(a.min(b), a.max(b))
            }
        });
        keys.collect()
    }
}

/// Asks the referee about a schedule of the trace; a race comes with what is read and written on the way to it that was not in the trace.
pub(crate) fn referee_race(
    referee: &mut Referee<'_>,
    trace: &Trace,
    pair: Pair,
    witness: Witness,
) -> Result<Race, String> {
    let proof = Proof::Adjacent { model: model(witness.pinning), schedule: witness.schedule };
    let claim = Claim { first: pair.first, second: pair.second, proof };
    let finding =
        referee.check(claim).map_err(|rejection| format!("the referee rejects the schedule: {rejection}"))?;
    let mut race = Race::new(&finding, trace.names(), |id| trace.event(id));
    if witness.pinning == Pinning::Values {
        let new = referee.new_values(finding.proof());
        race.values = new.into_iter().map(|new| NewValue::new(new, trace)).collect();
    }
    Ok(race)
}

/// The referee's name for how far a schedule strays.
fn model(pinning: Pinning) -> Model {
    match pinning {
        Pinning::SameWrite => Model::SameWrite,
        Pinning::SameValue => Model::SameValue,
        Pinning::ControlFlow => Model::ControlFlow,
        Pinning::Necessary => Model::Necessary,
        Pinning::Values => Model::Values,
    }
}
