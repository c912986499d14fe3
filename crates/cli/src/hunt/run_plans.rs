//! How each run of a hunt is steered.

use foretell_schedule::Name;

use crate::args::{HuntArgs, Strategy};
use crate::front_end::{Learnt, RunPlan};

/// About how many choices a run has before anything is known of it.
const USUAL_STEPS: u64 = 1_000;
/// The strategies that take turns in finding runs to predict from: one that takes locks as no run before, and one that
/// lets threads get far ahead of others. The first learns from run to run, so it begins.
const FOR_PREDICTIONS: [Name; 3] = [Name::DrFinder, Name::DrFinder, Name::Pct];

/// Hands out run plans, and remembers what was learnt.
pub(super) struct RunPlans<'a> {
    args: &'a HuntArgs,
    runs: usize,
    steps: u64,
    triggers: Option<String>,
}

impl RunPlans<'_> {
    pub(super) fn new(args: &HuntArgs) -> RunPlans<'_> {
        RunPlans { args, runs: 0, steps: USUAL_STEPS, triggers: None }
    }

    /// The plans of the next runs. Those that run at the same time learn nothing from each other. The first run of all
    /// is alone if there is something to be learnt from it.
    pub(super) fn next(&mut self, count: usize) -> Vec<RunPlan> {
        let count = if self.runs == 0 && self.is_learning() { 1 } else { count };
        (0..count).map(|_| self.one()).collect()
    }

    fn is_learning(&self) -> bool {
        !matches!(self.args.strategy, Strategy::Random | Strategy::Contest | Strategy::Pos)
    }

    fn one(&mut self) -> RunPlan {
        let strategy = match self.args.strategy {
            Strategy::Random => Name::Random,
            Strategy::Contest => Name::Contest,
            Strategy::Pct => Name::Pct,
            Strategy::Pos => Name::Pos,
            Strategy::Drfinder => Name::DrFinder,
            Strategy::Predict => FOR_PREDICTIONS[self.runs % FOR_PREDICTIONS.len()],
        };
        let seed = self.args.seed.wrapping_add(self.runs as u64);
        self.runs += 1;
        RunPlan {
            run: self.runs,
            seed,
            strategy,
            depth: self.args.depth.unwrap_or_else(|| strategy.usual_depth()),
            steps: self.steps,
            triggers: self.triggers.clone(),
        }
    }

    /// The next runs shall know what this one has taught.
    pub(super) fn learn(&mut self, learnt: &Learnt) {
        self.steps = learnt.steps.filter(|&steps| steps > 0).unwrap_or(self.steps);
        if learnt.triggers.is_some() {
            self.triggers.clone_from(&learnt.triggers);
        }
    }
}
