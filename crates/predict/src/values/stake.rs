//! What is at stake in a demand that does not hold, as a problem of arithmetic.
//!
//! A schedule shows one choice of writes for which a value is not what it has to be. Most of that choice may not
//! matter: whatever some of the reads see, the value would be wrong. A solver that computes with all that each read may
//! see finds out which part of the choice is to blame, so that a search need not try the others one by one. The order
//! of events is left out, so what is impossible here is impossible.

use std::time::Duration;

use foretell_arithmetic::{Answer, Choice, Number, Problem, Solver};
use foretell_trace::values::{Demand, Demanded, Term, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Computed, Datum, Sight};
use crate::closure::{Closure, ENTRY};

/// Of so many reads the problem says what they may see; the others may be anything.
const MOST_READS: usize = 64;
/// A problem with more terms than this is not asked.
const MOST_TERMS: usize = 20_000;
/// How long a solver may think about one problem.
const TIME: Duration = Duration::from_secs(2);

/// Which of the reasons for a demand not to hold are enough for that, if a solver knows.
pub(crate) fn blame(
    computed: &Computed<'_>,
    closure: &Closure<'_>,
    solver: &dyn Solver,
    demand: Demand,
    reasons: &[Sight],
) -> Option<Vec<Sight>> {
    let Demanded::Number(wanted) = demand.value else { return None };
    let mut stake = Stake {
        computed,
        closure,
        problem: Problem::default(),
        terms: FxHashMap::default(),
        reads: FxHashMap::default(),
        open: Vec::new(),
        sights: FxHashMap::default(),
    };
    let (found, wanted) = (stake.term(demand.term)?, stake.problem.constant(wanted));
    stake.problem.same(found, wanted);
    stake.add_sources()?;
    let assumed: FxHashSet<Sight> = reasons.iter().copied().collect();
    let choices: Vec<(Choice, Sight)> = stake
        .sights
        .iter()
        .filter(|(_, sight)| assumed.contains(sight))
        .map(|(&choice, &sight)| (choice, sight))
        .collect();
    choices.iter().for_each(|&(choice, _)| stake.problem.assume(choice));
    match solver.solve(&stake.problem, TIME)? {
        Answer::Impossible(core) => {
            let mut blamed: Vec<Sight> =
                core.iter().filter_map(|choice| stake.sights.get(choice).copied()).collect();
            blamed.sort_unstable();
            Some(blamed)
        }
        Answer::Possible | Answer::Unknown => None,
    }
}

/// A problem in the making.
struct Stake<'c, 'w> {
    computed: &'c Computed<'w>,
    closure: &'c Closure<'w>,
    problem: Problem,
    terms: FxHashMap<TermId, Number>,
    /// What reads of the window see.
    reads: FxHashMap<u32, Number>,
    /// Those of which the problem does not say yet what they may see.
    open: Vec<u32>,
    sights: FxHashMap<Choice, Sight>,
}

impl Stake<'_, '_> {
    /// Tells what the reads may see.
    fn add_sources(&mut self) -> Option<()> {
        let mut stated = 0;
        while let Some(read) = self.open.pop().filter(|_| stated < MOST_READS) {
            stated += 1;
            let number = self.reads.get(&read).copied()?;
            let mut choices = Vec::new();
            for write in self.closure.all_sources(read) {
                let (choice, source) = (self.problem.choice(), self.source(read, write)?);
                self.problem.implies_same(choice, number, source);
                self.sights.insert(choice, Sight { read, write });
                choices.push(choice);
            }
            self.problem.one_of(&choices);
        }
        Some(())
    }

    /// What the read sees of the write.
    fn source(&mut self, read: u32, write: u32) -> Option<Number> {
        let computed = self.computed;
        if write == ENTRY {
            return Some(match computed.entry_value(read) {
                Some(Datum::Number(number)) => self.problem.constant(number),
                Some(Datum::Name(_)) | None => self.problem.free(),
            });
        }
        match computed.values.written(computed.id(write)) {
            Some(term) => self.term(term),
            None => Some(self.problem.free()),
        }
    }

    /// The number that a term is; none if there are too many.
    fn term(&mut self, term: TermId) -> Option<Number> {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            let unknown: Vec<TermId> = self
                .computed
                .values
                .term(next)
                .parts()
                .filter(|part| !self.terms.contains_key(part))
                .collect();
            if unknown.is_empty() || self.terms.contains_key(&next) {
                open.pop();
                if !self.terms.contains_key(&next) {
                    let number = self.number(self.computed.values.term(next))?;
                    self.terms.insert(next, number);
                }
            } else {
                open.extend(unknown);
            }
            if self.terms.len() > MOST_TERMS {
                return None;
            }
        }
        self.terms.get(&term).copied()
    }

    /// The number that a term is whose parts are known.
    fn number(&mut self, term: Term) -> Option<Number> {
        let known = |part: TermId| self.terms.get(&part).copied();
        Some(match term {
            Term::Number(number) => self.problem.constant(number),
            Term::Name(_) | Term::Frozen { .. } => self.problem.free(),
            Term::Read(event) => match self.computed.local(event) {
                Some(read) => self.read(read),
                None => match self.computed.value_read(event) {
                    Some(Datum::Number(number)) => self.problem.constant(number),
                    Some(Datum::Name(_)) | None => self.problem.free(),
                },
            },
            Term::Unary { op, width, of } => {
                let of = known(of)?;
                self.problem.unary(op, width, of)
            }
            Term::Binary { op, width, left, right } => {
                let (left, right) = (known(left)?, known(right)?);
                self.problem.binary(op, width, left, right)
            }
            Term::Choice { condition, then, otherwise } => {
                let (condition, then, otherwise) = (known(condition)?, known(then)?, known(otherwise)?);
                self.problem.select(condition, then, otherwise)
            }
        })
    }

    fn read(&mut self, read: u32) -> Number {
        if let Some(&known) = self.reads.get(&read) {
            return known;
        }
        let number = self.problem.free();
        self.reads.insert(read, number);
        // What nothing explains comes from none of the writes.
        if !self.computed.window.event(read).unexplained {
            self.open.push(read);
        }
        number
    }
}
