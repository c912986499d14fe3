//! CIMP programs: the virtual machine runs them.

use std::path::Path;

use foretell_cimp::machine::{Blocked, Wanted};
use foretell_cimp::record::{self, Ending, Limits, Run};
use foretell_report::{Confirmation, Deadlock, Shown, Steering, WaitingThread};
use foretell_schedule::{Plan as StrategyPlan, Relation};
use foretell_wire::schedule::ScheduleDraft;

use super::run_cimp::{self, Recorded, bounds, ending_text, report_ending};
use super::{DrivePlan, Examined, FrontEnd, Learnt, RunOutcome, RunPlan, drive_cimp};
use crate::args::{HuntArgs, InputArgs, RunArgs};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::program::Source;
use crate::trace::convert;
use crate::{Outcome, output};

/// A program that the virtual machine runs.
pub(crate) struct Cimp {
    source: Source,
}

impl Cimp {
    pub(crate) fn new(program: &Path) -> Result<Cimp, Failure> {
        Ok(Cimp { source: Source::load(program)? })
    }

    /// What is known of the relation between functions and locks.
    fn relation(&self, plan: &RunPlan) -> Relation {
        let text = plan.triggers.as_deref().unwrap_or_default();
        self.source.program.parse_triggers(text).unwrap_or_default()
    }
}

impl FrontEnd for Cimp {
    type Artifacts = Run;
    type Recording = Run;

    fn check_run(args: &RunArgs) -> Result<(), Failure> {
        match args.evidence {
            Some(_) => Err(Failure::Usage("--evidence packs the logs of native programs only".to_string())),
            None => Ok(()),
        }
    }

    fn record_once(&self, args: &RunArgs) -> Result<Run, Failure> {
        run_cimp::record(&self.source, &args.schedule, args.max_steps, args.loops)
    }

    fn save(&self, run: &Run, args: &RunArgs) -> Result<(), Failure> {
        if let Some(path) = &args.flow {
            output::write(Some(path), &foretell_depend::listing(&run.trace, &run.flow))?;
        }
        args.trace.as_ref().map_or(Ok(()), |path| convert::save(&run.trace, path))
    }

    fn examine_once(&self, run: &mut Run, args: &RunArgs) -> Result<Examined, Failure> {
        run.trace = args.wanted.search.dependence.apply(std::mem::take(&mut run.trace));
        if run.trace.events().is_empty() && run.ending == Ending::Finished {
            let name = self.source.name();
            output::note(&format!("{name}: the program does nothing that others could notice"));
        }
        run_cimp::examine(args, &self.source, run)
    }

    fn ending(&self, run: &Run) -> Outcome {
        report_ending(&self.source, &run.ending)
    }

    fn record(&self, plan: &RunPlan, args: &HuntArgs) -> Result<RunOutcome<Run>, Failure> {
        let mut strategy = StrategyPlan {
            name: plan.strategy,
            seed: plan.seed,
            depth: plan.depth,
            steps: plan.steps,
            relation: self.relation(plan),
        }
        .strategy();
        let limits = Limits { steps: args.max_steps, bounds: bounds(None) };
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

    fn examine(&self, mut run: Run, plan: &RunPlan, args: &HuntArgs) -> Result<Shown, Failure> {
        let wanted = &args.wanted;
        let deadlock = deadlock(&run.ending, plan);
        let is_incomplete = run.ending != Ending::Finished && deadlock.is_none();
        run.trace = wanted.search.dependence.apply(run.trace);
        let file = TraceFile::new(&args.program, &InputArgs { from_format: None, no_progress: true });
        let recorded = Recorded { source: &self.source, run: &run, bounds: bounds(None), file: &file };
        let on = |plan| recorded.report(&plan, wanted);
        let reports = args.plans().map(on).collect::<Result<_, _>>()?;
        Ok(Shown { reports, deadlock, is_incomplete, ..Shown::default() })
    }

    fn drive(&self, draft: &mut ScheduleDraft, _: DrivePlan) -> Result<Confirmation, Failure> {
        Ok(drive_cimp::drive(&self.source.program, draft))
    }
}

/// The blocked threads and what they wait for, if the run ended in a deadlock.
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
        let (event, stack, locks) = (None, Vec::new(), Vec::new());
        WaitingThread { event, thread, waits_for, held_by, location, stack, locks }
    };
    Some(Deadlock::new(plan.run, plan.seed, blocked.iter().map(waiting).collect()))
}
