//! The techniques of a plan, one after the other, and what each adds.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use foretell_detect::Pairs;
use foretell_predict::{Guarantee, Technique};
use foretell_report::{Coverage, TraceInfo};

use crate::analysis::{Analysis, Judged, Note, Room};
use crate::control::Control;
use crate::error::Error;
use crate::exact::{Exact, Workers};
use crate::input::{Input, room};
use crate::plan::{Choice, Plan};
use crate::shards::of_locations;
use crate::stream::Stage;
use crate::{deadlocks, in_shards, left, untaken, violations};

/// The last stages of `auto` may take so many times as long as all before them,
const TIMES_LONGER: u32 = 4;
/// but at least this,
const LEAST_TIME: Duration = Duration::from_secs(1);
/// and have time for so many pairs that use up theirs.
const PAIRS_IN_TIME: u32 = 10;
/// Traces of up to so many events have room in any case, whatever a technique keeps for each event.
const SHORT: usize = 100_000;

/// Runs the techniques of the plan until the control says that everything is to stop.
pub fn analyse(input: &Input<'_>, plan: &Plan, control: &dyn Control) -> Result<Analysis, Error> {
    let begin = Instant::now();
    let mut run = Run {
        input,
        plan,
        control,
        begin,
        room: Room { left: plan.witness_steps },
        workers: Workers::new(plan.jobs),
        analysis: Analysis::new(plan.choice),
    };
    if plan.find.races {
        run.stages()?;
    }
    run.look_for_deadlocks()?;
    run.look_for_violations()?;
    let was_over = control.is_time_over();
    let has_followed = run.follow_untaken_branches()?;
    run.note_what_is_not_computed();
    let mut analysis = run.analysis;
    if let (None, Some(trace)) = (&analysis.trace.coverage, input.trace()) {
        analysis.trace.coverage = Some(Coverage::of(trace));
    }
    analysis.interrupted = control.is_interrupted();
    if let Some(time) = plan.time_limit.filter(|_| control.is_time_over()) {
        let note =
            if has_followed && !was_over { Note::UntakenBranches(time) } else { Note::TimeLimit(time) };
        analysis.notes.push(note);
    }
    note_limits(input, control, &mut analysis);
    analysis.elapsed = begin.elapsed();
    Ok(analysis)
}

/// One analysis on its way.
pub(crate) struct Run<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) control: &'a dyn Control,
    begin: Instant,
    pub(crate) room: Room,
    pub(crate) workers: Workers,
    pub(crate) analysis: Analysis,
}

impl Run<'_> {
    fn stages(&mut self) -> Result<(), Error> {
        for technique in self.plan.choice.stages() {
            if !self.is_anything_to_do()? {
                break;
            }
            if technique == Technique::Recipe && self.plan.choice == Choice::Auto {
                if self.input.trace().is_some_and(|trace| trace.values().is_some()) {
                    self.look_for_more()?;
                }
                break;
            }
            if technique.decides_pairs() {
                self.analysis.window = self.plan.window;
                self.decide(technique)?;
            } else {
                self.detect(technique)?;
            }
        }
        Ok(())
    }

    /// Deadlocks, which have nothing to do with the pairs.
    fn look_for_deadlocks(&mut self) -> Result<(), Error> {
        if !self.plan.find.deadlocks || (self.control.is_stopped() && self.analysis.trace.events > 0) {
            return Ok(());
        }
        let (plan, until) = match self.plan.find.patiently {
            true => (*self.plan, None),
            false => self.plan_for_more(),
        };
        let Run { input, control, workers, room, .. } = self;
        let judged = deadlocks::find(input, &plan, until, *control, workers, room)?;
        self.count()?;
        self.analysis.deadlocks = judged.deadlocks;
        self.analysis.circles = judged.counts;
        self.analysis.notes.extend(judged.notes);
        Ok(())
    }

    /// Uses of freed memory, but for those that are races.
    fn look_for_violations(&mut self) -> Result<(), Error> {
        if !self.plan.find.memory || (self.control.is_stopped() && self.analysis.trace.events > 0) {
            return Ok(());
        }
        let known = self.proven_locations();
        let Run { input, plan, control, workers, room, .. } = self;
        let judged = violations::find(input, plan, &known, *control, workers, room)?;
        self.count()?;
        self.analysis.violations = judged.violations;
        self.analysis.violation_counts = judged.counts;
        self.analysis.notes.extend(judged.notes);
        Ok(())
    }

    /// Counts what is in the trace, if no stage has done that.
    fn count(&mut self) -> Result<(), Error> {
        if self.analysis.trace.events == 0 {
            let info = match self.input.trace() {
                Some(trace) => TraceInfo::of(trace, self.input.name()),
                None => self.input.count("counts", self.control)?,
            };
            self.analysis.looked_at(info);
        }
        Ok(())
    }

    /// Whether another stage may add something.
    fn is_anything_to_do(&mut self) -> Result<bool, Error> {
        if self.control.is_stopped() && self.analysis.trace.events > 0 {
            return Ok(false);
        }
        if self.analysis.races.len() >= self.plan.max_races {
            self.analysis.note_max_races(self.plan);
            return Ok(false);
        }
        if self.plan.pairs == Pairs::ByLocation && !self.analysis.races.is_empty() {
            return left::is_anything_left(self.input, &self.analysis.races, self.control);
        }
        Ok(true)
    }

    /// A stage that looks at each event once.
    fn detect(&mut self, technique: Technique) -> Result<(), Error> {
        // What it finds can only be proven in memory. Shards show the same, but for what lies far apart.
        if self.plan.choice == Choice::Auto
            && technique == Technique::SyncP
            && self.analysis.trace.events > room(self.plan.memory, self.control).max(SHORT)
        {
            return Ok(());
        }
        let Run { input, plan, control, room, analysis, .. } = self;
        let mut stage = Stage { input, technique, plan, control: *control, room };
        let judged = stage.run(analysis)?;
        analysis.add(judged, plan);
        if technique.guarantee() == Guarantee::FirstReport {
            stage.find_better_pairs(analysis)?;
        }
        Ok(())
    }

    /// A stage that decides pairs one by one, if the trace fits into memory.
    fn decide(&mut self, technique: Technique) -> Result<(), Error> {
        let (input, plan, control) = (self.input, self.plan, self.control);
        match input.load_within(&format!("{} reads", technique.name()), plan.memory, control)? {
            // A trace that was not read to its end has less than an earlier stage has seen.
            Ok(_) if control.is_stopped() && self.analysis.trace.events > 0 => {}
            Ok(trace) => {
                self.analysis.looked_at(TraceInfo::of(trace, input.name()));
                if control.is_stopped() {
                    return Ok(());
                }
                let exact = Exact::new(trace, technique, plan, control)?;
                let judged = exact.run(&self.analysis.races, &mut self.workers, &mut self.room)?;
                self.analysis.add(judged, plan);
            }
            Err(room) => {
                if self.analysis.trace.events == 0 {
                    self.analysis.looked_at(input.count("counts", control)?);
                }
                match in_shards::technique(technique, plan) {
                    Some(technique) => in_shards::decide(self, technique, room)?,
                    None => self.analysis.notes.push(Note::NoRoom(technique, room)),
                }
            }
        }
        Ok(())
    }

    /// The locations of the races so far, each two in the order of their names.
    pub(crate) fn proven_locations(&self) -> BTreeSet<(String, String)> {
        let races = self.analysis.races.iter();
        races.map(|race| of_locations(&race.accesses[0], &race.accesses[1])).collect()
    }

    /// The last stage of `auto` on the recorded run: races that need other values than the recorded ones. All pairs
    /// that are left have had an answer already, so this one may take so much longer than everything before, but not
    /// more; what it leaves open is only counted.
    fn look_for_more(&mut self) -> Result<(), Error> {
        let Some(trace) = self.input.trace() else { return Ok(()) };
        let (plan, until) = self.plan_for_more();
        let exact = Exact::new(trace, Technique::Recipe, &plan, self.control)?.until(until);
        let judged = exact.run(&self.analysis.races, &mut self.workers, &mut self.room)?;
        self.analysis.counts.not_recomputed += judged.open();
        self.analysis.add(Judged { races: judged.races, ..Judged::default() }, &plan);
        Ok(())
    }

    /// The plan for looking for more after all that was done so far, and when no more pairs are to be begun.
    pub(crate) fn plan_for_more(&self) -> (Plan, Option<Instant>) {
        let time = (self.begin.elapsed() * TIMES_LONGER).max(LEAST_TIME);
        let budget = self.plan.budget.min(time / PAIRS_IN_TIME);
        (Plan { budget, ..*self.plan }, Instant::now().checked_add(time))
    }

    /// Says whether there was anything to follow.
    fn follow_untaken_branches(&mut self) -> Result<bool, Error> {
        let is_wanted = self.plan.find.races
            && self.plan.untaken_branches
            && self.plan.choice.stages().contains(&Technique::Recipe);
        let Some(branches) = self.input.untaken().filter(|_| is_wanted) else { return Ok(false) };
        untaken::follow(self, branches)?;
        Ok(true)
    }

    /// What had to stay as it was, and why.
    fn note_what_is_not_computed(&mut self) {
        if self.plan.choice.stages().contains(&Technique::Recipe) {
            let values = self.input.trace().and_then(|trace| trace.values());
            let obstacles = values.into_iter().flat_map(|values| values.obstacles().iter());
            self.analysis.not_computed =
                obstacles.map(|(obstacle, times)| (obstacle.name().to_string(), times)).collect();
        }
    }
}

/// Says whether the memory sufficed, and how much of the trace was not read.
fn note_limits(input: &Input<'_>, control: &dyn Control, analysis: &mut Analysis) {
    let memory = control.reached_memory_limit();
    analysis.notes.extend(memory.map(|(bytes, is_set)| Note::Memory { bytes, is_set }));
    // An earlier stage may have read all of it.
    let unread = input.unread().filter(|unread| unread.events == analysis.trace.events);
    analysis.notes.extend(unread.map(Note::Unread));
}
