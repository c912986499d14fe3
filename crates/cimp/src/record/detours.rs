//! Where a run could have gone: for decisions of a recorded execution, the traces in which the thread goes the other
//! way there.
//!
//! A run shows one way of each decision only, and what lies on the other one may race as well. Here the program is
//! known, so the other way can be walked: by the thread alone, from the very state in which it decided, while all other
//! threads stand still. What the thread then reads is not what it will have read in an execution that really takes this
//! way; therefore nothing is made of it but terms. Decisions on the detour that depend on reads are taken both ways,
//! each with the demand that it goes so, and what was accessed is demanded to be accessed again. So whenever all
//! demands hold, the thread does exactly what the detour shows.
//!
//! A detour is a trace of its own: the run up to the decision, the detour, and what the other threads did afterwards in
//! the run, as far as they could have done that without what the thread does no more.
//!
//! After Huang and Luo's RECIPE, which follows untaken branches whose effects it can model; there they must be short
//! and free of loops and calls. Here they are whatever the machine runs, up to a number of events.
//!
//! * `walk`: the other way, as far as the thread gets alone
//! * `splice`: a run with a detour in it

mod splice;
mod walk;

use std::collections::{BTreeMap, VecDeque};

pub use foretell_depend::Detour;
use foretell_trace::TraceError;

use super::Run;
use super::recorder::{Decided, Node, Recorder, What};
use crate::machine::{Bounds, Machine, Turn};
use crate::program::{Position, Program};
use crate::value::ThreadRef;
use splice::Seam;
use walk::{Others, Walk};

/// How many detours there may be, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many decisions with the same position and outcome are looked at, spread over the run.
    pub same: usize,
    /// How many ways are followed behind each decision.
    pub ways: usize,
    /// How many events a detour may have.
    pub events: usize,
    /// How many of them may come after the two ways of the decision have met again, if the thread holds no lock then.
    pub behind: usize,
    /// Limits of the machine, as in the recorded run.
    pub bounds: Bounds,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { same: 4, ways: 16, events: 64, behind: 16, bounds: Bounds::default() }
    }
}

/// All detours of the run, one after the other: each is made when it is asked for. An error if the run is none of this
/// program.
pub fn detours<'p>(program: &'p Program, run: &Run, limits: Limits) -> Result<Detours<'p>, String> {
    let (whole, spots) = Whole::replay(program, run, limits)?;
    let mut recorder = Recorder::default();
    let machine = Machine::start(program, limits.bounds, &mut recorder);
    Ok(Detours {
        limits,
        whole,
        machine,
        recorder,
        taken: 0,
        spots: spots.into_iter(),
        spot: None,
        untried: VecDeque::new(),
        tried: 0,
    })
}

/// See [`detours`].
pub struct Detours<'p> {
    limits: Limits,
    whole: Whole<'p>,
    /// The run once more, up to the step of the decision that is looked at.
    machine: Machine<'p, Recorder>,
    recorder: Recorder,
    /// How many steps of it were taken.
    taken: usize,
    /// Decisions that were not looked at yet, in the order of the run.
    spots: std::vec::IntoIter<Spot>,
    spot: Option<Spot>,
    /// Ways behind the decision that were not followed yet: where its decisions go.
    untried: VecDeque<Vec<bool>>,
    /// How many were.
    tried: usize,
}

/// The run as it was.
struct Whole<'p> {
    turns: Vec<Turn>,
    recorder: Recorder,
    /// Its last state.
    end: Machine<'p, Recorder>,
    /// How many events of the run come before the first that the recorder has.
    first: usize,
    others: Others,
}

/// A decision that can go another way.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// The step after which it was made.
    step: usize,
    thread: ThreadRef,
    /// The number of its happening.
    decision: usize,
    /// Which way it went.
    went: bool,
}

impl<'p> Whole<'p> {
    /// Runs the program as in the run; gives the decisions to look at, too.
    fn replay(program: &'p Program, run: &Run, limits: Limits) -> Result<(Whole<'p>, Vec<Spot>), String> {
        let mut recorder = Recorder::default();
        let mut machine = Machine::start(program, limits.bounds, &mut recorder);
        let mut turns = Vec::with_capacity(run.schedule.0.len());
        let mut spots: BTreeMap<(Position, bool), Vec<Spot>> = BTreeMap::new();
        let mut settled = Settled::default();
        for (step, choice) in run.schedule.0.iter().enumerate() {
            let before = recorder.happenings.len();
            let turn = machine.turn(choice).filter(|&turn| machine.step_with(turn, &mut recorder).is_ok());
            let turn =
                turn.ok_or_else(|| format!("entry {} of the schedule, {choice}, is not possible", step + 1))?;
            turns.push(turn);
            settled.learn(&recorder.nodes);
            for decision in before..recorder.happenings.len() {
                let happening = recorder.happenings[decision];
                let What::Decision { scope: Some(_), decided: Decided::Truth(went) } = happening.what else {
                    continue;
                };
                // The arguments of a new thread are the same in all executions that get there.
                let is_open = happening.value.is_some_and(|node| !settled.is(node));
                if happening.at.thread == turn.thread && is_open {
                    let spot = Spot { step, thread: turn.thread, decision, went };
                    spots.entry((happening.at.position, went)).or_default().push(spot);
                }
            }
        }
        let events = run.trace.events().len();
        let first =
            events.checked_sub(recorder.happenings.len()).ok_or("the run is one of another program")?;
        let others = Others::of(&recorder.happenings);
        let mut picked: Vec<Spot> =
            spots.into_values().flat_map(|spots| spread(spots, limits.same)).collect();
        picked.sort_unstable_by_key(|spot| spot.decision);
        Ok((Whole { turns, recorder, end: machine, first, others }, picked))
    }
}

/// So many of them, as far from each other as possible.
fn spread<T: Copy>(all: Vec<T>, most: usize) -> Vec<T> {
    if all.len() <= most {
        return all;
    }
    (0..most).map(|number| all[number * all.len() / most]).collect()
}

/// Which nodes are made of no read, as long as decisions go as they went.
#[derive(Default)]
struct Settled(Vec<bool>);

impl Settled {
    fn learn(&mut self, nodes: &[Node]) {
        for &node in &nodes[self.0.len()..] {
            self.0.push(match node {
                Node::Constant(_) => true,
                Node::Read(_) => false,
                Node::Unary(_, of) | Node::Chosen { value: of, .. } => self.is(of),
                Node::Binary(_, left, right) => self.is(left) && self.is(right),
            });
        }
    }

    fn is(&self, node: u32) -> bool {
        self.0[node as usize]
    }
}

impl Iterator for Detours<'_> {
    type Item = Result<Detour, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while let Some(spot) = self.spot.filter(|_| self.tried < self.limits.ways)
                && let Some(prescribed) = self.untried.pop_front()
            {
                self.tried += 1;
                if let Some(detour) = self.detour(spot, prescribed) {
                    return Some(detour);
                }
            }
            let spot = self.spots.next()?;
            self.go_to(spot);
        }
    }
}

impl Detours<'_> {
    /// Takes the steps of the run before that of the decision.
    fn go_to(&mut self, spot: Spot) {
        while self.taken < spot.step {
            // The same turns were taken before.
            _ = self.machine.step_with(self.whole.turns[self.taken], &mut self.recorder);
            self.taken += 1;
        }
        self.spot = Some(spot);
        self.untried = VecDeque::from([vec![!spot.went]]);
        self.tried = 0;
    }

    /// The detour behind the decision on which decisions go as given, if it is worth anything.
    fn detour(&mut self, spot: Spot, prescribed: Vec<bool>) -> Option<Result<Detour, TraceError>> {
        let seam = Seam {
            happenings: self.recorder.happenings.len(),
            nodes: self.recorder.nodes.len(),
            decision: spot.decision,
            thread: spot.thread,
            cells: self.machine.cell_count(spot.thread),
        };
        let turn = self.whole.turns[spot.step];
        let walk =
            Walk::take(&self.machine, &mut self.recorder, turn, (spot.decision, prescribed), &self.limits);
        let detour = walk.and_then(|walk| {
            let room = self.limits.ways.saturating_sub(self.tried + self.untried.len());
            self.untried.extend(walk.others().take(room));
            let is_worth_it =
                self.whole.others.notice(spot.thread, walk.added(&self.recorder, spot.decision));
            is_worth_it.then(|| splice::splice(&self.whole, &self.recorder, &walk, seam))
        });
        self.recorder.happenings.truncate(seam.happenings);
        self.recorder.nodes.truncate(seam.nodes);
        detour
    }
}

#[cfg(test)]
mod tests;
