//! Deadlocks: circles of threads that may wait for each other, decided one by one, each proof through the referee.

use std::time::{Duration, Instant};

use foretell_predict::{
    Budget, Circle, Circles, Deadlocks, Goal, Limit, Predictor, Technique, Verdict, Waits, Witness,
};
use foretell_report::PredictedDeadlock;
use foretell_trace::source::BATCH;
use foretell_trace::{EventId, Trace};
use foretell_witness::{Deadlock, Referee, StuckClaim};
use rayon::prelude::*;

use crate::analysis::{Note, Reason, Room};
use crate::control::Control;
use crate::error::Error;
use crate::exact::Workers;
use crate::input::Input;
use crate::plan::{Choice, Plan};

/// A deadlock that the referee has accepted.
#[derive(Clone, Debug)]
pub struct FoundDeadlock {
    /// The referee's word. Its schedule is empty if the schedules of all that was found are too long to be kept.
    pub finding: Deadlock,
    /// How many events the schedule has.
    pub witness_length: usize,
    /// Who waits for what, as people know it.
    pub told: PredictedDeadlock,
}

/// What became of the circles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CircleCounts {
    /// Circles that no schedule leads to.
    pub refuted: u64,
    /// Circles that are not decided; those of the same places count as one.
    pub undecided: u64,
}

/// What was found.
#[derive(Default)]
pub(crate) struct JudgedDeadlocks {
    pub(crate) deadlocks: Vec<FoundDeadlock>,
    pub(crate) counts: CircleCounts,
    pub(crate) notes: Vec<Note>,
}

/// Looks for deadlocks; none is begun after a time. The trace is read into memory only if something in it may be one.
pub(crate) fn find(
    input: &Input<'_>,
    plan: &Plan,
    until: Option<Instant>,
    control: &dyn Control,
    workers: &mut Workers,
    room: &mut Room,
) -> Result<JudgedDeadlocks, Error> {
    let mut judged = JudgedDeadlocks::default();
    let waits = collect(input, control)?;
    let Deadlocks { circles, are_more } = waits.deadlocks(plan.pairs, || control.is_stopped());
    if are_more && plan.find.patiently {
        judged.notes.push(Note::TooManyCircles);
    }
    judged.counts.undecided += u64::from(are_more && !plan.find.patiently);
    if circles.is_empty() || control.is_stopped() {
        judged.leave(circles.len(), Reason::Limit(Limit::Stopped));
        return Ok(judged);
    }
    let trace = match input.load_within("deadlocks: reads", plan.memory, control)? {
        Ok(trace) => trace,
        Err(room) => {
            judged.counts.undecided = circles.len() as u64;
            judged.notes.push(Note::NoRoomForDeadlocks(room));
            return Ok(judged);
        }
    };
    let predictor = |technique| Predictor::new(trace, technique, plan.window, control.solver());
    let predictors: Vec<Predictor<'_>> = techniques(plan.choice, trace).filter_map(predictor).collect();
    let progress = control.progress("decides deadlocks");
    progress.expect(circles.len());
    let steps = room.left;
    let each = |referee: &mut Referee<'_>, circles: &Circles| {
        let worked = work(circles, &predictors, referee, (plan.budget, until), control);
        progress.worked();
        worked.map_deadlock(|finding| FoundDeadlock::new(finding, trace, steps))
    };
    let referee = Referee::new(trace);
    let worked: Vec<Worked<FoundDeadlock>> =
        workers.pool()?.install(|| circles.par_iter().map_init(|| referee.clone(), each).collect());
    for worked in worked {
        judged.counts.refuted += worked.refuted;
        if let Some(found) = worked.deadlock {
            judged.deadlocks.push(room.limit_deadlock(found));
        } else if let Some(reason) = worked.open {
            match (plan.find.patiently, &reason) {
                // More time was not asked for.
                (false, Reason::Limit(Limit::Budget | Limit::Solver) | Reason::NotTried) => {
                    judged.counts.undecided += 1;
                }
                _ => judged.leave(1, reason),
            }
        }
    }
    Ok(judged)
}

/// The waits of the trace, which need not be in memory.
fn collect(input: &Input<'_>, control: &dyn Control) -> Result<Waits, Error> {
    let mut waits = Waits::default();
    if let Some(trace) = input.trace() {
        for (number, events) in trace.events().chunks(BATCH).enumerate() {
            if control.is_stopped() {
                break;
            }
            if let Some(first) = EventId::from_index(number * BATCH) {
                waits.batch(first, events);
            }
        }
        return Ok(waits);
    }
    let mut reading = input.open("looks for deadlocks")?;
    while let Some((first, events)) = reading.next()? {
        waits.batch(first, events);
        if control.is_stopped() {
            break;
        }
    }
    Ok(waits)
}

/// Which techniques decide circles of this trace, the cheaper one first.
fn techniques(choice: Choice, trace: &Trace) -> impl Iterator<Item = Technique> {
    let computes = choice == Choice::Auto && trace.values().is_some();
    choice.decides_goals_by().into_iter().chain(computes.then_some(Technique::Recipe))
}

/// What became of the circles that count as one.
struct Worked<D> {
    deadlock: Option<D>,
    refuted: u64,
    /// Why one of them is not decided, if one is not.
    open: Option<Reason>,
}

impl<D> Worked<D> {
    fn map_deadlock<E>(self, map: impl FnOnce(D) -> E) -> Worked<E> {
        Worked { deadlock: self.deadlock.map(map), refuted: self.refuted, open: self.open }
    }
}

/// Tries the circles until one of them is a deadlock. They have the time for one pair together.
fn work(
    circles: &Circles,
    predictors: &[Predictor<'_>],
    referee: &mut Referee<'_>,
    (budget, until): (Duration, Option<Instant>),
    control: &dyn Control,
) -> Worked<Deadlock> {
    let begin = Instant::now();
    let mut worked = Worked { deadlock: None, refuted: 0, open: None };
    for circle in &circles.circles {
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        let left = if is_late { Duration::ZERO } else { budget.saturating_sub(begin.elapsed()) };
        if control.is_stopped() || left.is_zero() {
            let limit = if control.is_stopped() { Limit::Stopped } else { Limit::Budget };
            worked.open = Some(Reason::Limit(limit));
            return worked;
        }
        match decide(circle, predictors, referee, left, control) {
            Ok(Some(finding)) => {
                worked.deadlock = Some(finding);
                return worked;
            }
            Ok(None) => worked.refuted += 1,
            Err(reason) => worked.open = Some(reason),
        }
    }
    if circles.left_out > 0 && worked.open.is_none() {
        worked.open = Some(Reason::NotTried);
    }
    worked
}

/// Whether the circle is a deadlock, by the first technique that says so; none says so if it is refuted.
fn decide(
    circle: &Circle,
    predictors: &[Predictor<'_>],
    referee: &mut Referee<'_>,
    time: Duration,
    control: &dyn Control,
) -> Result<Option<Deadlock>, Reason> {
    let budget = Budget { per_pair: time, stop: control.stop_flag() };
    let mut open = None;
    for predictor in predictors {
        match predictor.decide_goal(&Goal::from(circle), &budget) {
            Verdict::Reached(Witness { model, schedule }) => {
                let (waits, ended) = (circle.waits.clone(), circle.ended);
                let claim = StuckClaim { waits, ended, model, schedule };
                return referee.check_stuck(claim).map(Some).map_err(Reason::ScheduleRejected);
            }
            Verdict::Unreachable(_) => open = None,
            Verdict::NotInWindow => open = Some(Reason::NoSchedule),
            Verdict::Undecided(limit) => open = Some(Reason::Limit(limit)),
        }
    }
    open.map_or(Ok(None), Err)
}

impl FoundDeadlock {
    fn new(finding: Deadlock, trace: &Trace, steps: usize) -> FoundDeadlock {
        let witness_length = finding.schedule().len();
        let told = PredictedDeadlock::new(&finding, trace);
        FoundDeadlock { finding, witness_length, told }.within(steps)
    }

    /// The same if its schedule has no more than so many events, otherwise without it.
    pub(crate) fn within(mut self, steps: usize) -> FoundDeadlock {
        if self.finding.schedule().len() > steps {
            self.finding = self.finding.without_schedule();
            self.told.witness = None;
        }
        self
    }
}

impl JudgedDeadlocks {
    /// So many are not decided, for this reason.
    fn leave(&mut self, circles: usize, reason: Reason) {
        if circles > 0 {
            self.counts.undecided += circles as u64;
            let note = Note::OpenDeadlocks(reason);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}
