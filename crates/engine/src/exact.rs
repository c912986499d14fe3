//! Techniques that decide pairs one by one: candidates, in parallel, each race through the referee.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use foretell_detect::{Pair, Pairs};
use foretell_predict::{Bucket, Budget, Candidates, Key, Part, Predictor, Technique, Verdict, Witness};
use foretell_trace::{Model, Trace};
use foretell_witness::{Claim, Proof, Referee};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::analysis::{Candidate, Found, Judged, Reason, Room};
use crate::bucket::{Tools, Worked, work};
use crate::control::{Control, Progress};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::plan::Plan;

/// Witnesses wait in memory until those of a whole chunk can be put in order. So many of their steps may wait at once.
const STEPS_IN_WAITING: usize = 64 << 20;

/// The threads that decide pairs: started when they are first needed, and then shared by all stages.
pub(crate) struct Workers {
    jobs: usize,
    pool: Option<ThreadPool>,
}

impl Workers {
    pub(crate) fn new(jobs: usize) -> Workers {
        Workers { jobs, pool: None }
    }

    pub(crate) fn pool(&mut self) -> Result<&ThreadPool, Error> {
        if self.pool.is_none() {
            let pool = ThreadPoolBuilder::new().num_threads(self.jobs).build();
            let failed = |error| Error::Plan(format!("cannot start {} jobs: {error}", self.jobs));
            self.pool = Some(pool.map_err(failed)?);
        }
        self.pool.as_ref().ok_or_else(|| Error::Plan("there are no workers".to_string()))
    }
}

/// Pairs that are to be decided, some at a time.
pub(crate) trait Work {
    /// The next pieces of work, but for those that are settled.
    fn next_batch(&mut self, is_settled: &dyn Fn(Key) -> bool) -> Option<Vec<Bucket>>;

    /// How many pairs were not handed out because there were too many.
    fn not_examined(&self) -> u64;

    /// No more batches are wanted: counts what is left.
    fn give_up(&mut self);
}

impl Work for Candidates<'_> {
    fn next_batch(&mut self, is_settled: &dyn Fn(Key) -> bool) -> Option<Vec<Bucket>> {
        Candidates::next_batch(self, is_settled)
    }

    fn not_examined(&self) -> u64 {
        Candidates::not_examined(self)
    }

    fn give_up(&mut self) {
        Candidates::give_up(self);
    }
}

/// One technique on one trace in memory.
pub(crate) struct Exact<'a> {
    trace: &'a Trace,
    technique: Technique,
    plan: &'a Plan,
    control: &'a dyn Control,
    predictor: Predictor<'a>,
    referee: Referee<'a>,
    /// When no more pairs are to be begun.
    until: Option<Instant>,
}

impl<'a> Exact<'a> {
    pub(crate) fn new(
        trace: &'a Trace,
        technique: Technique,
        plan: &'a Plan,
        control: &'a dyn Control,
    ) -> Result<Exact<'a>, Error> {
        Exact::of_part(trace, technique, plan, control, None)
    }

    /// The same for a trace that may be a part of a longer one.
    pub(crate) fn of_part(
        trace: &'a Trace,
        technique: Technique,
        plan: &'a Plan,
        control: &'a dyn Control,
        part: Option<Part>,
    ) -> Result<Exact<'a>, Error> {
        let Some(predictor) = Predictor::of_part(trace, technique, plan.window, control.solver(), part)
        else {
            return Err(Error::Plan(format!("{} does not decide pairs one by one", technique.name())));
        };
        Ok(Exact { trace, technique, plan, control, predictor, referee: Referee::new(trace), until: None })
    }

    /// The same, but no pair is begun after this.
    pub(crate) fn until(self, until: Option<Instant>) -> Exact<'a> {
        Exact { until, ..self }
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Decides all candidates of the trace that are not among these races, as long as there is room for more.
    pub(crate) fn run(
        &self,
        known: &[Found],
        workers: &mut Workers,
        room: &mut Room,
    ) -> Result<Judged, Error> {
        let most = self.plan.max_races.saturating_sub(known.len());
        self.run_with(Ledger::new(self.proven(known), most), workers, room)
    }

    /// The same where this need not be decided.
    pub(crate) fn run_beside(
        &self,
        proven: HashSet<Key>,
        workers: &mut Workers,
        room: &mut Room,
    ) -> Result<Judged, Error> {
        self.run_with(Ledger::new(proven, self.plan.max_races), workers, room)
    }

    fn run_with(&self, ledger: Ledger, workers: &mut Workers, room: &mut Room) -> Result<Judged, Error> {
        let progress = self.control.progress(&format!("{} decides", self.technique.name()));
        let mut candidates = Candidates::new(&self.predictor, self.plan.pairs, self.control.stop_flag());
        self.work_off(&mut candidates, ledger, workers, room, &*progress)
    }

    /// Decides what the work hands out until the ledger is full.
    pub(crate) fn work_off(
        &self,
        candidates: &mut dyn Work,
        mut ledger: Ledger,
        workers: &mut Workers,
        room: &mut Room,
        progress: &dyn Progress,
    ) -> Result<Judged, Error> {
        let pool = workers.pool()?;
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
                let worked = pool.install(|| self.work(chunk, &ledger, room.left, progress));
                for (bucket, worked) in chunk.iter().zip(worked) {
                    let race = ledger.enter(bucket, worked);
                    judged.races.extend(race.map(|race| room.limit(race)));
                }
            }
        }
        judged.races.sort_by_key(Found::pair);
        judged.counts.refuted = ledger.refuted;
        if ledger.is_full() {
            candidates.give_up();
            judged.counts.not_examined = candidates.not_examined();
            judged.is_over_full = ledger.has_left_any() || judged.counts.not_examined > 0;
        } else {
            judged.note_too_many(candidates.not_examined());
        }
        self.list_undecided(ledger, &mut judged);
        Ok(judged)
    }

    /// Lists what the ledger leaves open, as far as there is room.
    fn list_undecided(&self, ledger: Ledger, judged: &mut Judged) {
        judged.not_in_window = ledger.not_in_window();
        let (undecided, not_in_window, not_examined) = ledger.close();
        let listed = self.plan.max_races;
        judged.counts.not_listed = undecided.len().saturating_sub(listed) as u64;
        judged.counts.not_in_window = not_in_window;
        judged.counts.not_examined += not_examined;
        let event = |id| self.trace.event(id);
        judged.candidates = undecided
            .into_iter()
            .take(listed)
            .map(|open| {
                let candidate = Candidate::new(open.pair, open.reason, self.trace.names(), event);
                Candidate { more: open.more, ..candidate }
            })
            .collect();
    }

    /// What came of each bucket, in their order. Witnesses with more than `steps` steps are not kept.
    fn work(
        &self,
        chunk: &[Bucket],
        ledger: &Ledger,
        steps: usize,
        progress: &dyn Progress,
    ) -> Vec<Worked<Found>> {
        let each = |referee: &mut Referee<'a>, bucket: &Bucket| {
            let budget = if self.is_late() { Duration::ZERO } else { self.plan.budget };
            let left = ledger.time_left(bucket.key, budget);
            let mut tools = Tools {
                decide: |pair, left| self.decide(pair, left),
                check: |pair, witness| Ok(self.check(referee, pair, witness)?.within(steps)),
                is_stopped: || self.control.is_stopped(),
            };
            let worked = work(bucket, left, &mut tools);
            progress.worked();
            worked
        };
        chunk.par_iter().map_init(|| self.referee.clone(), each).collect()
    }

    /// Asks the technique.
    fn decide(&self, pair: Pair, time: Duration) -> Verdict {
        self.predictor.decide(pair, &Budget { per_pair: time, stop: self.control.stop_flag() })
    }

    /// Asks the technique, and why not.
    pub(crate) fn explain(&self, pair: Pair) -> Verdict {
        self.predictor.explain(pair, &Budget { per_pair: self.plan.budget, stop: self.control.stop_flag() })
    }

    /// The technique that is asked.
    pub(crate) fn technique(&self) -> Technique {
        self.technique
    }

    /// Set when everything is to stop.
    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        self.control.stop_flag()
    }

    /// Asks the referee. A schedule that he rejects is a fault of the technique, and no race. A race comes with what is
    /// read and written on the way to it that was not in the trace.
    pub(crate) fn check(
        &self,
        referee: &mut Referee<'_>,
        pair: Pair,
        witness: Witness,
    ) -> Result<Found, Reason> {
        let proof = Proof::Adjacent { model: witness.model, schedule: witness.schedule };
        let claim = Claim { first: pair.first, second: pair.second, proof };
        let finding = referee.check(claim).map_err(Reason::ScheduleRejected)?;
        let values = match witness.model {
            Model::Values => referee.new_values(finding.proof()),
            _ => Vec::new(),
        };
        let found = Found::new(finding, self.trace.names(), |id| self.trace.event(id));
        Ok(Found { values, ..found })
    }

    pub(crate) fn referee(&self) -> Referee<'a> {
        self.referee.clone()
    }

    /// What need not be decided as these races are known.
    fn proven(&self, known: &[Found]) -> HashSet<Key> {
        let is_here = |pair: &Pair| pair.second.index() < self.trace.events().len();
        let keys = known.iter().map(Found::pair).filter(is_here).map(|pair| match self.plan.pairs {
            Pairs::All => Key::Events(pair),
            Pairs::ByLocation => {
                let (a, b) = (self.trace.event(pair.first).loc, self.trace.event(pair.second).loc);
                Key::Locations(a.min(b), a.max(b))
            }
        });
        keys.collect()
    }
}
