//! Goals that count as one, decided one by one until one of them is proven, each proof through the referee.

use std::time::{Duration, Instant};

use foretell_predict::{Budget, Circle, FreedUse, Goal, Limit, Predictor, Technique, Verdict, Witness};
use foretell_trace::Trace;
use foretell_witness::{
    Deadlock, ProvenViolation, Referee, Rejection, StuckClaim, Violation, ViolationClaim,
};
use rayon::prelude::*;

use crate::analysis::Reason;
use crate::control::Control;
use crate::error::Error;
use crate::exact::Workers;
use crate::plan::{Choice, Plan};

/// Something that a schedule may lead to.
pub(crate) trait Candidate: Sync {
    /// What the referee makes of it.
    type Proven;

    /// Where the schedule has to lead.
    fn goal(&self) -> Goal;

    /// Whether a glance tells that no schedule leads there.
    fn is_ordered(&self, _: &Predictor<'_>) -> bool {
        false
    }

    /// Whether the referee believes this schedule.
    fn check(&self, referee: &mut Referee<'_>, witness: Witness) -> Result<Self::Proven, Rejection>;
}

impl Candidate for Circle {
    type Proven = Deadlock;

    fn goal(&self) -> Goal {
        Goal::from(self)
    }

    fn check(&self, referee: &mut Referee<'_>, witness: Witness) -> Result<Deadlock, Rejection> {
        let (waits, ended, Witness { model, schedule }) = (self.waits.clone(), self.ended, witness);
        referee.check_stuck(StuckClaim { waits, ended, model, schedule })
    }
}

impl Candidate for FreedUse {
    type Proven = ProvenViolation;

    fn goal(&self) -> Goal {
        Goal::from(self)
    }

    /// Most memory is freed by who has joined its users, or waited for them.
    fn is_ordered(&self, predictor: &Predictor<'_>) -> bool {
        let user = predictor.trace().event(self.used).thread;
        predictor.last_before(self.freed, user) >= Some(self.used)
    }

    fn check(&self, referee: &mut Referee<'_>, witness: Witness) -> Result<ProvenViolation, Rejection> {
        let violation = Violation::UseAfterFree { used: self.used, freed: self.freed };
        let Witness { model, schedule } = witness;
        referee.check_violation(ViolationClaim { violation, model, schedule })
    }
}

/// Candidates that count as one.
pub(crate) struct Group<'a, C> {
    pub(crate) all: &'a [C],
    /// How many more there are.
    pub(crate) left_out: u64,
}

/// What became of the candidates that count as one.
pub(crate) struct Worked<P> {
    pub(crate) proven: Option<P>,
    pub(crate) refuted: u64,
    /// Why one of them is not decided, if one is not.
    pub(crate) open: Option<Reason>,
}

/// Decides one group after the other; none is begun after a time. `found` makes of a proof what is kept of it.
pub(crate) fn decide<C: Candidate, F: Send>(
    trace: &Trace,
    groups: &[Group<'_, C>],
    (plan, until): (&Plan, Option<Instant>),
    (control, what): (&dyn Control, &str),
    workers: &mut Workers,
    found: impl Fn(C::Proven) -> F + Sync,
) -> Result<Vec<Worked<F>>, Error> {
    let predictor = |technique| Predictor::new(trace, technique, plan.window, control.solver());
    let predictors: Vec<Predictor<'_>> = techniques(plan.choice, trace).filter_map(predictor).collect();
    let progress = control.progress(what);
    progress.expect(groups.len());
    let each = |referee: &mut Referee<'_>, group: &Group<'_, C>| {
        let Worked { proven, refuted, open } =
            work(group, &predictors, referee, (plan.budget, until), control);
        progress.worked();
        Worked { proven: proven.map(&found), refuted, open }
    };
    let referee = Referee::new(trace);
    Ok(workers.pool()?.install(|| groups.par_iter().map_init(|| referee.clone(), each).collect()))
}

/// Which techniques decide goals of this trace, the cheaper one first.
fn techniques(choice: Choice, trace: &Trace) -> impl Iterator<Item = Technique> {
    let computes = choice == Choice::Auto && trace.values().is_some();
    choice.decides_goals_by().into_iter().chain(computes.then_some(Technique::Recipe))
}

/// Tries the candidates until one of them is proven. They have the time for one pair together.
fn work<C: Candidate>(
    group: &Group<'_, C>,
    predictors: &[Predictor<'_>],
    referee: &mut Referee<'_>,
    (budget, until): (Duration, Option<Instant>),
    control: &dyn Control,
) -> Worked<C::Proven> {
    let begin = Instant::now();
    let mut worked = Worked { proven: None, refuted: 0, open: None };
    for candidate in group.all {
        let is_late = until.is_some_and(|until| Instant::now() >= until);
        let left = if is_late { Duration::ZERO } else { budget.saturating_sub(begin.elapsed()) };
        if control.is_stopped() || left.is_zero() {
            let limit = if control.is_stopped() { Limit::Stopped } else { Limit::Budget };
            worked.open = Some(Reason::Limit(limit));
            return worked;
        }
        match decide_one(candidate, predictors, referee, left, control) {
            Ok(Some(proven)) => {
                worked.proven = Some(proven);
                return worked;
            }
            Ok(None) => worked.refuted += 1,
            Err(reason) => worked.open = Some(reason),
        }
    }
    if group.left_out > 0 && worked.open.is_none() {
        worked.open = Some(Reason::NotTried);
    }
    worked
}

/// What the referee makes of the candidate, by the first technique that proves it; nothing if it is refuted.
fn decide_one<C: Candidate>(
    candidate: &C,
    predictors: &[Predictor<'_>],
    referee: &mut Referee<'_>,
    time: Duration,
    control: &dyn Control,
) -> Result<Option<C::Proven>, Reason> {
    let budget = Budget { per_pair: time, stop: control.stop_flag() };
    let mut open = None;
    for predictor in predictors {
        if candidate.is_ordered(predictor) {
            open = None;
            continue;
        }
        match predictor.decide_goal(&candidate.goal(), &budget) {
            Verdict::Reached(witness) => {
                return candidate.check(referee, witness).map(Some).map_err(Reason::ScheduleRejected);
            }
            Verdict::Unreachable(_) => open = None,
            Verdict::NotInWindow => open = Some(Reason::NoSchedule),
            Verdict::Undecided(limit) => open = Some(Reason::Limit(limit)),
        }
    }
    open.map_or(Ok(None), Err)
}
