//! Programs of the virtual machine.

use foretell_cimp::machine::{Blocked, Wanted};
use foretell_cimp::record::{self, Ending, Limits, Run};
use foretell_report::{Deadlock, Shown, Steering, WaitingThread};
use foretell_schedule::{Plan as StrategyPlan, Relation};

use crate::args::{HuntArgs, InputArgs};
use crate::error::Failure;
use crate::front_end::{FrontEnd, Learnt, RunOutcome, RunPlan};
use crate::input::TraceFile;
use crate::program::Source;
use crate::run::{Recorded, bounds, ending_text};

/// A program that the virtual machine runs.
pub(super) struct Cimp<'a> {
    args: &'a HuntArgs,
    source: Source,
}

impl Cimp<'_> {
    pub(super) fn new(args: &HuntArgs) -> Result<Cimp<'_>, Failure> {
        Ok(Cimp { args, source: Source::load(&args.program)? })
    }

    /// What is known of the relation between functions and locks.
    fn relation(&self, plan: &RunPlan) -> Relation {
        let text = plan.triggers.as_deref().unwrap_or_default();
        self.source.program.parse_triggers(text).unwrap_or_default()
    }
}

impl FrontEnd for Cimp<'_> {
    type Artifacts = Run;

    fn record(&self, plan: &RunPlan) -> Result<RunOutcome<Run>, Failure> {
        let mut strategy = StrategyPlan {
            name: plan.strategy,
            seed: plan.seed,
            depth: plan.depth,
            steps: plan.steps,
            relation: self.relation(plan),
        }
        .strategy();
        let limits = Limits { steps: self.args.max_steps, bounds: bounds(None) };
        let run = record::run(&self.source.program, &mut strategy, &limits)
            .map_err(|error| Failure::Trace { file: self.source.name(), error })?;
        let learnt = strategy.learnt();
        let learnt = Learnt {
            steps: Some(run.schedule.0.len() as u64),
            triggers: learnt.map(|learnt| self.source.program.triggers_text(learnt)),
            steering: learnt.map(|learnt| Steering {
                acquisitions: learnt.statistics.acquisitions,
                suspensions: learnt.statistics.suspensions,
                reversals: learnt.statistics.reversals,
                thrashings: learnt.statistics.thrashings,
            }),
        };
        let is_stuck = matches!(run.ending, Ending::Deadlock(_));
        let ending = ending_text(&run.ending).filter(|_| !is_stuck);
        Ok(RunOutcome { artifacts: run, ending, learnt })
    }

    fn examine(&self, mut run: Run, plan: &RunPlan) -> Result<Shown, Failure> {
        let wanted = &self.args.wanted;
        let deadlock = deadlock(&run.ending, plan);
        let is_incomplete = run.ending != Ending::Finished && deadlock.is_none();
        run.trace = wanted.search.dependence.apply(run.trace);
        let file = TraceFile::new(&self.args.program, &InputArgs { from_format: None, no_progress: true });
        let recorded = Recorded { source: &self.source, run: &run, bounds: bounds(None), file: &file };
        let on = |plan| recorded.report(&plan, wanted);
        let reports = self.args.plans().map(on).collect::<Result<_, _>>()?;
        Ok(Shown { reports, deadlock, is_incomplete, ..Shown::default() })
    }
}

/// Who waits for what, if that is how the run has ended.
fn deadlock(ending: &Ending, plan: &RunPlan) -> Option<Deadlock> {
    let Ending::Deadlock(blocked) = ending else { return None };
    let waiting = |blocked: &Blocked| {
        let (waits_for, held_by) = match &blocked.wants {
            Wanted::Lock { lock, owner } => (format!("lock {lock}"), Some(owner.clone())),
            Wanted::Permit(semaphore) => (format!("semaphore {semaphore}"), None),
            Wanted::Notification(condition) => (format!("condition {condition}"), None),
            Wanted::End(thread) => (format!("the end of {thread}"), Some(thread.clone())),
        };
        let (thread, location) = (blocked.thread.clone(), blocked.position.to_string());
        WaitingThread { thread, waits_for, held_by, location, stack: Vec::new(), locks: Vec::new() }
    };
    Some(Deadlock::new(plan.run, plan.seed, blocked.iter().map(waiting).collect()))
}
