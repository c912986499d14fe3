//! Conflict-driven clause learning: decides variables, draws what follows, learns a clause from each contradiction, and
//! goes back as far as that clause shows to be useful. The theory has a say in what follows and what contradicts.
//!
//! A variable is always decided towards its preferred value, never towards the one that it had last: solutions near the
//! preferred ones are what the caller can use. Variables that took part in conflicts are decided first, then those of
//! clauses that are not satisfied. What no clause needs is not decided at all: the theory completes the solution.
//!
//! Clauses and variables may be added at any time. A new clause takes back only as much as it contradicts, so what was
//! decided for the last solution is there for the next one.

mod logging;

use std::time::Instant;

use crate::clauses::{ClauseId, Clauses, Watch};
use crate::heap::Heap;
use crate::limits::{SearchAnswer, SearchLimits, Statistics};
use crate::literal::{Lit, Var, narrow};
use crate::proof::{ProofLog, StepId};
use crate::theory::Theory;

/// How many conflicts the shortest stretch between two restarts has.
const RESTART: u64 = 64;
/// How many learnt clauses are kept at first, and how many more after each time that half are dropped.
const KEPT: usize = 4000;
const KEPT_MORE: usize = 1000;
/// Deadlines and stop flags are looked at once in so many steps.
const PATIENCE: u32 = 32;

/// The state of the search.
#[derive(Debug)]
pub(crate) struct Search<T> {
    pub(crate) theory: T,
    clauses: Clauses,
    heap: Heap,
    /// For each literal, whether it is true (1), false (-1) or open (0).
    values: Vec<i8>,
    /// For each variable that has a value, why and since when.
    sources: Vec<AssignmentCause>,
    /// For each variable, the literal to decide.
    preferred: Vec<Lit>,
    /// All true literals, in the order in which they became true.
    trail: Vec<Lit>,
    levels: Vec<Level>,
    /// The clauses of the problem of two literals or more.
    problem: Vec<ClauseId>,
    /// How many of these, counted from the first, are known to be satisfied.
    satisfied: usize,
    /// How far the clauses have been looked at.
    clause_head: usize,
    /// How much of the assignment the theory has seen.
    theory_head: usize,
    /// What the theory says to follow, not yet drawn.
    implied: Vec<Lit>,
    /// The literals of the present conflict, none of which is true.
    conflict: Vec<Lit>,
    /// Marks of the analysis, by variable; all false outside of it.
    seen: Vec<bool>,
    unsatisfiable: bool,
    /// How many learnt clauses may be kept.
    kept: usize,
    conflicts: u64,
    decisions: u64,
    propagations: u64,
    /// What was done, if that is to be checked.
    proof: Option<Box<ProofLog>>,
}

/// What is opened by a decision.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// How long the trail was before the decision.
    start: usize,
    /// See [`Search::satisfied`]; before the decision.
    satisfied: usize,
}

/// Why a variable has its value, and since when.
#[derive(Clone, Copy, Debug)]
struct AssignmentCause {
    reason: Reason,
    level: u32,
    /// The place on the trail.
    place: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It was decided, or holds at the bottom level.
    None,
    Clause(ClauseId),
    Theory,
}

impl<T: Theory> Search<T> {
    pub(crate) fn new(theory: T) -> Search<T> {
        let mut search = Search {
            theory,
            clauses: Clauses::default(),
            heap: Heap::new(),
            values: Vec::new(),
            sources: Vec::new(),
            preferred: Vec::new(),
            trail: Vec::new(),
            levels: Vec::new(),
            problem: Vec::new(),
            satisfied: 0,
            clause_head: 0,
            theory_head: 0,
            implied: Vec::new(),
            conflict: Vec::new(),
            seen: Vec::new(),
            unsatisfiable: false,
            kept: KEPT,
            conflicts: 0,
            decisions: 0,
            propagations: 0,
            proof: None,
        };
        search.add_variable(true);
        search.add_clause(&[Lit::TRUE]);
        search
    }

    /// A new variable, decided towards `preferred`.
    pub(crate) fn add_variable(&mut self, preferred: bool) -> Var {
        let var = narrow(self.preferred.len());
        self.preferred.push(Lit::new(var, preferred));
        self.values.extend([0, 0]);
        self.sources.push(AssignmentCause { reason: Reason::None, level: 0, place: 0 });
        self.seen.push(false);
        self.clauses.add_variable();
        self.heap.add_variable();
        var
    }

    pub(crate) fn add_clause(&mut self, literals: &[Lit]) {
        let stated = self.proof.as_mut().map(|proof| proof.state(literals));
        self.add_logged(literals, stated);
    }

    /// A literal that chains and facts decide.
    pub(crate) fn add_known(&mut self, literal: Lit) {
        let lemma = self.proof.as_mut().map(|proof| proof.cycle(&[literal]));
        self.add_logged(&[literal], lemma);
    }

    /// Adds a clause that is this step of the proof.
    fn add_logged(&mut self, literals: &[Lit], step: Option<StepId>) {
        let mut literals = literals.to_vec();
        literals.sort_unstable();
        literals.dedup();
        let is_valid = literals.windows(2).any(|pair| pair[0] == !pair[1]);
        if is_valid || literals.iter().any(|&literal| self.is_true(literal) && self.level(literal) == 0) {
            return;
        }
        literals.retain(|&literal| !(self.is_false(literal) && self.level(literal) == 0));
        let step = self.log_shortened(&literals, step);
        // True and open literals first, then false ones that are false since the highest level.
        literals.sort_by_key(|&literal| {
            std::cmp::Reverse(if self.is_false(literal) { self.level(literal) } else { u32::MAX })
        });
        match *literals {
            [] => self.unsatisfiable = true,
            [only] => {
                self.log_unit(only, step);
                self.go_back(0);
                self.assign(only, Reason::None);
            }
            [first, second, ..] => {
                self.make_room(first, second);
                let clause = self.clauses.add(&literals, 0, 0);
                self.log_held(step);
                self.problem.push(clause);
                if self.is_open(first) && self.is_false(second) {
                    self.assign(first, Reason::Clause(clause));
                }
            }
        }
    }

    /// Goes back until a clause with these best literals is not contradicted, and what it implies is implied at the
    /// present level.
    fn make_room(&mut self, first: Lit, second: Lit) {
        if !self.is_false(second) || (self.is_true(first) && self.level(first) <= self.level(second)) {
            return;
        }
        let same_level = self.is_false(first) && self.level(first) == self.level(second);
        self.go_back(self.level(second) as usize - usize::from(same_level));
    }

    pub(crate) fn add_unsatisfiable(&mut self) {
        self.unsatisfiable = true;
    }

    /// Tells the theory about something new.
    pub(crate) fn with_theory(&mut self, tell: impl FnOnce(&mut T, &mut Vec<Lit>)) {
        tell(&mut self.theory, &mut self.implied);
    }

    pub(crate) fn solve(&mut self, limits: &SearchLimits) -> SearchAnswer {
        let answer = if self.unsatisfiable { SearchAnswer::Unsat } else { self.search(limits) };
        match answer {
            SearchAnswer::Unsat => self.unsatisfiable = true,
            SearchAnswer::GaveUp => self.go_back(0),
            SearchAnswer::Sat => {}
        }
        answer
    }

    fn search(&mut self, limits: &SearchLimits) -> SearchAnswer {
        let first = self.conflicts;
        let mut restarts = 1;
        let mut until_restart = RESTART;
        let mut patience = 0;
        loop {
            if patience == 0 {
                if is_over(limits) || self.clauses.are_too_many() {
                    return SearchAnswer::GaveUp;
                }
                patience = PATIENCE;
            }
            patience -= 1;
            if !self.propagate() {
                if !self.is_above_bottom_in_conflict() {
                    self.log_refutation();
                    return SearchAnswer::Unsat;
                }
                if limits.conflicts.is_some_and(|limit| self.conflicts - first >= limit) {
                    return SearchAnswer::GaveUp;
                }
                self.conflicts += 1;
                until_restart = until_restart.saturating_sub(1);
                self.learn();
            } else if until_restart == 0 {
                restarts += 1;
                until_restart = RESTART * luby(restarts);
                self.restart();
            } else if !self.decide() {
                return SearchAnswer::Sat;
            }
        }
    }

    /// Draws all that follows. False if there is a contradiction; then it is in `conflict`.
    fn propagate(&mut self) -> bool {
        loop {
            if !self.propagate_clauses() {
                return false;
            }
            if !self.propagate_theory() {
                return false;
            }
            if self.clause_head == self.trail.len() {
                return true;
            }
        }
    }

    fn propagate_clauses(&mut self) -> bool {
        while let Some(&literal) = self.trail.get(self.clause_head) {
            self.clause_head += 1;
            self.propagations += 1;
            let mut watches = self.clauses.take_watches(!literal);
            let found = self.visit_watches(!literal, &mut watches);
            self.clauses.put_watches(!literal, watches);
            if let Some(clause) = found {
                self.conflict.clear();
                self.conflict.extend_from_slice(self.clauses.literals(clause));
                self.log_conflict(Some(clause));
                self.clauses.use_at(clause, narrow_time(self.conflicts));
                return false;
            }
        }
        true
    }

    /// Looks at the clauses that watch a literal that became false. Gives one that is contradicted, if there is one.
    fn visit_watches(&mut self, watched: Lit, watches: &mut Vec<Watch>) -> Option<ClauseId> {
        let mut contradicted = None;
        let mut kept = 0;
        for index in 0..watches.len() {
            let watch = watches[index];
            if contradicted.is_none() && self.values[watch.blocker.index()] <= 0 {
                match self.visit(watched, watch.clause) {
                    Visit::Moved => continue,
                    Visit::Satisfied(blocker) => watches[index].blocker = blocker,
                    Visit::Contradicted => contradicted = Some(watch.clause),
                }
            }
            watches[kept] = watches[index];
            kept += 1;
        }
        watches.truncate(kept);
        contradicted
    }

    /// Looks for another literal to watch, or draws what the clause implies.
    fn visit(&mut self, watched: Lit, clause: ClauseId) -> Visit {
        let literals = self.clauses.literals_mut(clause);
        if literals[0] == watched {
            literals.swap(0, 1);
        }
        let first = literals[0];
        if self.values[first.index()] > 0 {
            return Visit::Satisfied(first);
        }
        let other = literals[2..].iter().position(|literal| self.values[literal.index()] >= 0);
        if let Some(other) = other {
            literals.swap(1, other + 2);
            let now_watched = literals[1];
            self.clauses.add_watch(now_watched, Watch { clause, blocker: first });
            return Visit::Moved;
        }
        if self.is_false(first) {
            return Visit::Contradicted;
        }
        self.assign(first, Reason::Clause(clause));
        Visit::Satisfied(first)
    }

    fn propagate_theory(&mut self) -> bool {
        self.assign_implied();
        while let Some(&literal) = self.trail.get(self.theory_head) {
            self.conflict.clear();
            let place = narrow(self.theory_head);
            if !self.theory.assign(literal, place, &mut self.implied, &mut self.conflict) {
                self.conflict.iter_mut().for_each(|literal| *literal = !*literal);
                self.log_conflict(None);
                return false;
            }
            self.theory_head += 1;
            self.assign_implied();
        }
        true
    }

    fn assign_implied(&mut self) {
        let mut implied = std::mem::take(&mut self.implied);
        for literal in implied.drain(..) {
            if self.is_open(literal) {
                self.assign(literal, Reason::Theory);
            }
        }
        self.implied = implied;
    }

    fn assign(&mut self, literal: Lit, reason: Reason) {
        self.values[literal.index()] = 1;
        self.values[(!literal).index()] = -1;
        let (level, place) = (narrow(self.levels.len()), narrow(self.trail.len()));
        self.sources[literal.var() as usize] = AssignmentCause { reason, level, place };
        self.trail.push(literal);
        if self.proof.is_some() && self.levels.is_empty() {
            self.log_assignment(literal);
        }
    }

    /// Decides the next variable. False if all clauses are satisfied.
    fn decide(&mut self) -> bool {
        let Some(var) = self.next_active().or_else(|| self.next_unsatisfied()) else { return false };
        if let Some(forced) = self.theory.forced(var) {
            self.assign(forced, Reason::Theory);
            return true;
        }
        self.decisions += 1;
        self.levels.push(Level { start: self.trail.len(), satisfied: self.satisfied });
        self.theory.push_level();
        self.assign(self.preferred[var as usize], Reason::None);
        true
    }

    /// The open variable that took part in most conflicts, if any did.
    fn next_active(&mut self) -> Option<Var> {
        while let Some(var) = self.heap.pop() {
            if self.is_open(Lit::new(var, true)) {
                return Some(var);
            }
        }
        None
    }

    /// An open variable of the first clause that is not satisfied: if possible one whose preferred value satisfies it.
    fn next_unsatisfied(&mut self) -> Option<Var> {
        self.advance();
        if self.satisfied == self.problem.len() {
            // A boolean may have been forced away from its preferred value since a clause counted on it.
            self.satisfied = 0;
            self.advance();
        }
        let literals = self.clauses.literals(*self.problem.get(self.satisfied)?);
        let mut open = literals.iter().copied().filter(|&literal| self.is_open(literal));
        let is_preferred = |literal: &Lit| self.preferred[literal.var() as usize] == *literal;
        open.clone().find(is_preferred).or_else(|| open.next()).map(Lit::var)
    }

    /// Goes on to the next clause that is not satisfied.
    fn advance(&mut self) {
        let rest = self.problem[self.satisfied..].iter();
        let satisfied = rest.take_while(|&&clause| {
            self.clauses.literals(clause).iter().any(|&literal| self.will_hold(literal))
        });
        self.satisfied += satisfied.count();
    }

    /// Whether a literal is true, or will be unless something forces it: no decision is needed for a boolean that is
    /// open and would rather be false. One that would rather be true is decided, so that what follows from it is drawn.
    fn will_hold(&self, literal: Lit) -> bool {
        self.is_true(literal)
            || (!literal.is_positive()
                && self.is_open(literal)
                && self.preferred[literal.var() as usize] == literal
                && !self.theory.has_opinion(literal.var()))
    }

    /// Takes back all above `level`.
    fn go_back(&mut self, level: usize) {
        let Some(&Level { start, satisfied }) = self.levels.get(level) else { return };
        self.levels.truncate(level);
        self.satisfied = satisfied;
        for literal in self.trail.drain(start..) {
            self.values[literal.index()] = 0;
            self.values[(!literal).index()] = 0;
            self.heap.insert(literal.var());
        }
        self.clause_head = self.clause_head.min(start);
        self.theory_head = self.theory_head.min(start);
        self.implied.clear();
        self.theory.pop_levels(level, &mut self.implied);
    }

    /// Goes back as far as the order of decisions has changed since.
    fn restart(&mut self) {
        while self.heap.peek().is_some_and(|var| !self.is_open(Lit::new(var, true))) {
            self.heap.pop();
        }
        if let Some(next) = self.heap.peek() {
            let is_kept = |level: &&Level| self.heap.is_first(self.trail[level.start].var(), next);
            let level = self.levels.iter().take_while(is_kept).count();
            self.go_back(level);
        }
        if self.clauses.learnt() > self.kept {
            self.drop_clauses();
        }
    }

    /// Drops learnt clauses that are of little use.
    fn drop_clauses(&mut self) {
        self.kept += KEPT_MORE;
        let (sources, values) = (&self.sources, &self.values);
        let is_reason = |clause: ClauseId, literals: &[Lit]| {
            literals.iter().take(2).any(|literal| {
                values[literal.index()] > 0
                    && sources[literal.var() as usize].reason == Reason::Clause(clause)
            })
        };
        let renumbered = self.clauses.drop_worse_half(is_reason);
        for clause in &mut self.problem {
            *clause = renumbered[*clause as usize].unwrap_or_default();
        }
        for literal in &self.trail {
            let reason = &mut self.sources[literal.var() as usize].reason;
            if let Reason::Clause(clause) = *reason {
                *reason = renumbered[clause as usize].map_or(Reason::None, Reason::Clause);
            }
        }
        if let Some(proof) = &mut self.proof {
            proof.renumber(&renumbered);
        }
    }

    /// Whether anything that was decided has a part in the conflict. Goes back to the level where the conflict arises.
    fn is_above_bottom_in_conflict(&mut self) -> bool {
        let level = self.conflict.iter().map(|&literal| self.level(literal)).max().unwrap_or(0);
        let conflict = std::mem::take(&mut self.conflict);
        self.go_back(level as usize);
        self.conflict = conflict;
        level > 0
    }

    /// Learns from the present conflict, and goes back.
    fn learn(&mut self) {
        let mut learnt = self.analyse();
        self.minimise(&mut learnt);
        let step = self.log_learnt(&learnt);
        let spread = self.spread(&learnt);
        self.heap.decay();
        // The literal that will be false since the highest level is the one to watch besides the implied one.
        let highest = (1..learnt.len()).max_by_key(|&index| self.level(learnt[index]));
        let level = highest.map_or(0, |index| {
            learnt.swap(1, index);
            self.level(learnt[1])
        });
        self.go_back(level as usize);
        if learnt.len() == 1 {
            self.log_unit(learnt[0], step);
            self.assign(learnt[0], Reason::None);
        } else {
            let clause = self.clauses.add(&learnt, spread, narrow_time(self.conflicts));
            self.log_held(step);
            self.assign(learnt[0], Reason::Clause(clause));
        }
    }

    /// The clause that holds because of the conflict, and implies its first literal at a lower level. All its
    /// variables stay marked as seen.
    fn analyse(&mut self) -> Vec<Lit> {
        let level = narrow(self.levels.len());
        let mut learnt = vec![Lit::FALSE];
        let mut reason = std::mem::take(&mut self.conflict);
        let mut open = 0;
        let mut place = self.trail.len();
        loop {
            for literal in reason.drain(..) {
                let var = literal.var() as usize;
                if self.seen[var] || self.sources[var].level == 0 {
                    continue;
                }
                self.seen[var] = true;
                self.heap.bump(literal.var());
                if self.sources[var].level == level {
                    open += 1;
                } else {
                    learnt.push(literal);
                }
            }
            place -= 1;
            while !self.seen[self.trail[place].var() as usize] {
                place -= 1;
            }
            let literal = self.trail[place];
            open -= 1;
            if open == 0 {
                learnt[0] = !literal;
                break;
            }
            self.seen[literal.var() as usize] = false;
            self.explain(literal, &mut reason);
        }
        self.conflict = reason;
        learnt
    }

    /// The false literals because of which the literal is true.
    fn explain(&mut self, literal: Lit, reason: &mut Vec<Lit>) {
        let source = self.sources[literal.var() as usize];
        match source.reason {
            Reason::None => {}
            Reason::Clause(clause) => {
                self.clauses.use_at(clause, narrow_time(self.conflicts));
                let others = self.clauses.literals(clause).iter().filter(|&&other| other != literal);
                reason.extend(others);
                self.log_reason(clause);
            }
            Reason::Theory => {
                self.theory.explain(literal, source.place, reason);
                reason.iter_mut().for_each(|literal| *literal = !*literal);
                self.log_lemma(literal, reason);
            }
        }
    }

    /// Drops literals that follow from the others by one clause, and clears the marks.
    fn minimise(&mut self, learnt: &mut Vec<Lit>) {
        let marked = learnt.clone();
        let first = learnt[0];
        learnt.retain(|&literal| literal == first || !self.follows_from_seen(literal));
        self.log_dropped(&marked, learnt);
        marked.iter().for_each(|literal| self.seen[literal.var() as usize] = false);
    }

    fn follows_from_seen(&self, literal: Lit) -> bool {
        let Reason::Clause(clause) = self.sources[literal.var() as usize].reason else { return false };
        let is_known =
            |other: &Lit| *other == !literal || self.seen[other.var() as usize] || self.level(*other) == 0;
        self.clauses.literals(clause).iter().all(is_known)
    }

    /// How many levels the literals come from.
    fn spread(&self, literals: &[Lit]) -> u32 {
        let mut levels: Vec<u32> = literals.iter().map(|&literal| self.level(literal)).collect();
        levels.sort_unstable();
        levels.dedup();
        narrow(levels.len())
    }

    /// Since which level a literal that has a value has it.
    fn level(&self, literal: Lit) -> u32 {
        self.sources[literal.var() as usize].level
    }

    pub(crate) fn is_true(&self, literal: Lit) -> bool {
        self.values[literal.index()] > 0
    }

    fn is_false(&self, literal: Lit) -> bool {
        self.values[literal.index()] < 0
    }

    fn is_open(&self, literal: Lit) -> bool {
        self.values[literal.index()] == 0
    }

    /// For each variable, whether it is true. Those that are open have any value that the theory allows.
    pub(crate) fn model(&mut self) -> impl Iterator<Item = bool> {
        self.theory.complete();
        (0..).zip(&self.preferred).map(|(var, preferred)| {
            let literal = Lit::new(var, true);
            if self.is_open(literal) {
                self.theory.completed(var).unwrap_or(preferred.is_positive())
            } else {
                self.is_true(literal)
            }
        })
    }

    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            conflicts: self.conflicts,
            decisions: self.decisions,
            propagations: self.propagations,
            clauses: self.clauses.count(),
            atoms: 0,
        }
    }
}

/// What became of a clause that was looked at.
enum Visit {
    /// It watches another literal now.
    Moved,
    /// This literal of it is true.
    Satisfied(Lit),
    /// All its literals are false.
    Contradicted,
}

fn is_over(limits: &SearchLimits) -> bool {
    limits.stop.is_some_and(|stop| stop.load(std::sync::atomic::Ordering::Relaxed))
        || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Conflicts as a time stamp.
fn narrow_time(conflicts: u64) -> u32 {
    u32::try_from(conflicts).unwrap_or(u32::MAX)
}

/// The sequence 1 1 2 1 1 2 4 …, counted from 1: restarts after such stretches are nearly as good as the best ones.
fn luby(index: u64) -> u64 {
    let mut index = index;
    loop {
        let bits = u64::BITS - index.leading_zeros();
        if index == (1 << bits) - 1 {
            return 1 << (bits - 1);
        }
        index -= (1 << (bits - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_follow_luby() {
        let sequence: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(sequence, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
