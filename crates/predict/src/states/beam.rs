//! A search that keeps only some states: layer by layer, of all states to which one more choice leads, a few.
//!
//! Where a schedule exists among very many, depth first gets stuck behind a choice that was wrong long ago. A beam
//! does not: states without a future drop out by themselves, and the others go on. Which states stay is drawn by lot,
//! with better chances for those that are further on the way to the goal; how much better differs from attempt to
//! attempt, as too much haste uses up what is needed later, and too little uses up what the end needs. An attempt in
//! which all states stayed has seen everything.

use std::cmp::Reverse;

use super::{Explored, States, TrialOrder};

/// How many states stay in the first attempts.
const WIDTH: usize = 128;
/// How many events of advantage luck makes up for, in turn.
const LUCK: [u64; 4] = [256, 1024, 64, 1 << 20];
/// After each of these has had its turn, this many times as many states stay.
const GROWTH: usize = 2;

/// A state that one can go back to.
struct Saved {
    next: Vec<u32>,
    deviated: Vec<bool>,
    /// Of the variables that are part of a state.
    content: Vec<u32>,
    open: Vec<u32>,
    permits: Vec<Option<u64>>,
    /// The last step of the way to it.
    step: usize,
}

/// A state that may stay: what runs next after one of the layer before.
#[derive(Clone, Copy)]
struct BeamCandidate {
    /// The place in that layer.
    after: usize,
    event: u32,
    score: u64,
}

/// One event on the way to a state, and the step before it.
struct PathNode {
    event: u32,
    before: usize,
}

/// Stands for the beginning of a way.
const BEGINNING: usize = usize::MAX;

/// What came of one attempt.
enum Attempt {
    Knows(Explored),
    /// No state was left.
    Failed,
}

impl States<'_> {
    /// Searches until so many states have been seen.
    pub(crate) fn run_beams(&mut self, most_states: usize) -> Explored {
        self.undo_to(0);
        let begin = self.save(BEGINNING);
        let mut lots = Lots(self.lots);
        let mut left = most_states;
        let mut width = WIDTH;
        let explored = 'search: loop {
            for luck in LUCK {
                self.restore(&begin);
                match self.attempt(width, &mut || lots.draw() % luck, &mut left) {
                    Attempt::Knows(explored) => break 'search explored,
                    Attempt::Failed => {}
                }
            }
            width *= GROWTH;
        };
        self.restore(&begin);
        // The next turn draws other lots.
        self.lots = lots.0;
        explored
    }

    fn attempt(&mut self, width: usize, luck: &mut impl FnMut() -> u64, left: &mut usize) -> Attempt {
        let mut ways: Vec<PathNode> = Vec::new();
        self.visited.clear();
        let is_new = self.arrive();
        if self.is_goal() {
            return Attempt::Knows(self.schedule_after(&ways, BEGINNING));
        }
        let mut layer: Vec<Saved> = Vec::new();
        layer.extend(is_new.then(|| self.keep(BEGINNING, &mut ways)));
        let mut has_all = true;
        while !layer.is_empty() {
            let mut candidates = Vec::new();
            self.visited.clear();
            for (after, state) in layer.iter().enumerate() {
                if *left == 0 || self.closure.is_out_of_time() {
                    return Attempt::Knows(Explored::TooMany);
                }
                self.restore(state);
                for event in self.choices(TrialOrder::AsRecorded) {
                    self.step(event);
                    let is_new = self.arrive();
                    if self.is_goal() {
                        return Attempt::Knows(self.schedule_after(&ways, state.step));
                    }
                    if is_new {
                        *left = left.saturating_sub(1);
                        candidates.push(BeamCandidate { after, event, score: self.progress() + luck() });
                    }
                    self.undo_to(0);
                }
            }
            if candidates.len() > width {
                has_all = false;
                candidates.select_nth_unstable_by_key(width, |candidate| Reverse(candidate.score));
                candidates.truncate(width);
            }
            layer = self.next_layer(&layer, &candidates, &mut ways);
        }
        if has_all { Attempt::Knows(Explored::Impossible) } else { Attempt::Failed }
    }

    fn next_layer(
        &mut self,
        layer: &[Saved],
        staying: &[BeamCandidate],
        ways: &mut Vec<PathNode>,
    ) -> Vec<Saved> {
        let states = staying.iter().map(|candidate| {
            let before = &layer[candidate.after];
            self.restore(before);
            self.step(candidate.event);
            self.arrive();
            self.keep(before.step, ways)
        });
        states.collect()
    }

    /// How many of the events have run that must.
    fn progress(&self) -> u64 {
        let run = self.next.iter().zip(&self.closure.running);
        run.map(|(&next, &running)| u64::from(next.min(running))).sum()
    }

    /// Writes down what has been done since a step, and where that has led.
    fn keep(&self, after: usize, ways: &mut Vec<PathNode>) -> Saved {
        let mut step = after;
        for done in &self.done {
            ways.push(PathNode { event: done.event, before: step });
            step = ways.len() - 1;
        }
        self.save(step)
    }

    /// The way to a step, and then what has been done since.
    fn schedule_after(&self, ways: &[PathNode], step: usize) -> Explored {
        let mut way: Vec<u32> = self.done.iter().rev().map(|done| done.event).collect();
        let mut at = step;
        while let Some(step) = ways.get(at) {
            way.push(step.event);
            at = step.before;
        }
        way.reverse();
        Explored::Schedule(way)
    }

    fn save(&self, step: usize) -> Saved {
        Saved {
            next: self.next.clone(),
            deviated: self.deviated.clone(),
            content: self.shape.tracked_vars().map(|var| self.content[var]).collect(),
            open: self.open.clone(),
            permits: self.permits.clone(),
            step,
        }
    }

    fn restore(&mut self, state: &Saved) {
        self.next.clone_from(&state.next);
        self.deviated.clone_from(&state.deviated);
        for (var, &content) in self.shape.tracked_vars().zip(&state.content) {
            self.content[var] = content;
        }
        self.open.clone_from(&state.open);
        self.permits.clone_from(&state.permits);
        self.done.clear();
    }
}

/// Numbers that look drawn by lot, the same each time (Steele, Lea and Flood 2014).
struct Lots(u64);

impl Lots {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
