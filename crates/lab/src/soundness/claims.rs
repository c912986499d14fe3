//! What the techniques say about a recorded run, asked of the engine as `foretell run --pairs all` asks it.

use std::sync::Arc;

use foretell_cimp::program::Program;
use foretell_cimp::record::{Run, detours};
use foretell_detect::{Pair, Pairs};
use foretell_engine::untaken::Branches;
use foretell_engine::{
    Analysis, Choice, Find, Found, Input, Plan, Reason, Unattended, UntakenBranches, analyse,
};
use foretell_predict::{Limit, Technique};
use foretell_witness::Deadlock;
use foretell_z3::Pool;

/// The answer of one technique.
pub(crate) struct Answer {
    /// The pairs of the run that it reports.
    pub(crate) reported: Vec<Pair>,
    /// What of that is proven.
    pub(crate) proven: Vec<Found>,
    /// What is proven on untaken branches.
    pub(crate) untaken: Vec<Found>,
    /// The deadlocks that are proven.
    pub(crate) deadlocks: Vec<Deadlock>,
}

/// Asks the technique. An error means that one of its schedules is wrong, or that it has no answer, though it decides
/// exactly.
pub(crate) fn ask(technique: Technique, program: &Program, run: &Run) -> Result<Answer, String> {
    let plan = Plan {
        choice: Choice::One(technique),
        find: Find::usual(Choice::One(technique)),
        pairs: Pairs::All,
        witness_steps: usize::MAX,
        max_races: usize::MAX,
        ..Plan::default()
    };
    let control = Unattended::new().with_solver(Arc::new(Pool::default()));
    let branches = ProgramBranches { program, run };
    let input = Input::of_trace("program", &run.trace).with_untaken(Some(&branches));
    let analysis = analyse(&input, &plan, &control).map_err(|error| error.to_string())?;
    if technique.decides_pairs() {
        check(technique, &analysis)?;
    }
    let open = analysis.undecided.iter().filter(|_| !technique.decides_pairs()).map(|open| open.pair);
    let (proven, untaken): (Vec<Found>, Vec<Found>) =
        analysis.races.into_iter().partition(|found| found.branch.is_none());
    let reported = proven.iter().map(Found::pair).chain(open).collect();
    let deadlocks = analysis.deadlocks.into_iter().map(|found| found.finding).collect();
    Ok(Answer { reported, proven, untaken, deadlocks })
}

/// A technique that decides pairs leaves none open, but for those that it has no answer to by its nature.
fn check(technique: Technique, analysis: &Analysis) -> Result<(), String> {
    let is_allowed = |reason: &Reason| *reason == Reason::Limit(Limit::Technique);
    if let Some(open) = analysis.undecided.iter().find(|open| !is_allowed(&open.reason)) {
        return Err(format!("{} {:?}: {}", technique.name(), open.pair, open.reason));
    }
    let counts = analysis.counts;
    if counts.not_examined + counts.not_in_window + counts.not_listed > 0 || !analysis.notes.is_empty() {
        return Err(format!("{} is not done: {counts:?}, {:?}", technique.name(), analysis.notes));
    }
    Ok(())
}

/// The untaken branches of a program in CIMP.
struct ProgramBranches<'a> {
    program: &'a Program,
    run: &'a Run,
}

impl UntakenBranches for ProgramBranches<'_> {
    fn branches(
        &self,
        _: &dyn Fn() -> bool,
    ) -> Result<Option<Branches<'_>>, Box<dyn std::error::Error + Send + Sync>> {
        let found = detours::detours(self.program, self.run, detours::Limits::default())?;
        Ok(Some(Box::new(found)))
    }
}
