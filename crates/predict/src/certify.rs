//! Certificates: proofs that no schedule reaches a goal, for a checker that knows nothing of how they were found.
//!
//! A pair is decided by the closure and the clause-learning search alone, on the whole trace, and what both find is
//! kept with the reasons. What the other searches, windows and shortcuts find has no reasons to show, so it takes no
//! part. `docs/proof-format.md` describes what comes out.
//!
//! * `axiom`: what a certificate may state
//! * `derivation`: what the closure finds, with reasons
//! * `paths`: why one event comes before another
//! * `assemble`, `searched`: from a contradiction back to the axioms
//! * `write`: what is written down; `text`, `binary`: how
//! * `words`: the reasons, for people; `minimal`: as few as are needed

mod assemble;
mod axiom;
mod binary;
mod derivation;
mod minimal;
mod paths;
mod searched;
mod text;
mod words;
mod write;

use foretell_arithmetic::NoSolver;
use foretell_solve::SearchLimits;
use foretell_trace::{Model, Trace};

pub(crate) use self::axiom::{Atom, Axiom, Literal};
pub(crate) use self::derivation::{Clash, Derivation, PinCause};
pub(crate) use self::searched::{Meanings, Statement};
pub(crate) use self::words::event_words;
pub use self::write::Certificate;

use self::assemble::{Assembler, CertificateStep};
use crate::closure::{Closure, Contradiction, Patience};
use crate::encode::{EncodedSearch, SearchOutcome};
use crate::goal::Goal;
use crate::greedy::{Care, GreedyPlan};
use crate::index::{Index, Unknown};
use crate::predictor;
use crate::replay::Subjects;
use crate::technique::{Decider, PinningStrategy, Technique};
use crate::verdict::{Budget, Limit, Witness};
use crate::window::{Border, Window, WindowQuestion};

/// Decides pairs, and proves each "no".
#[derive(Debug)]
pub struct Certifier<'t> {
    index: Index<'t>,
    strategy: PinningStrategy,
}

/// The answer to "can this goal be reached?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certified {
    /// Yes, by this schedule.
    Reached(Witness),
    /// No, and why.
    Refuted(Certificate),
    /// Unknown, or no without a certificate.
    Undecided(Limit),
}

impl<'t> Certifier<'t> {
    /// A certifier for the technique; none if the technique is not exact, or computes values.
    pub fn new(trace: &'t Trace, technique: Technique) -> Option<Certifier<'t>> {
        let strategy = technique.strategy(trace)?;
        if strategy.decider != Decider::Exact || strategy.model == Model::Values {
            return None;
        }
        // Which threads meet at a barrier of unknown size, no certificate may take for granted.
        Some(Certifier { index: Index::new(trace, Unknown::Open), strategy })
    }

    /// How far schedules may deviate from what was observed.
    pub fn model(&self) -> Model {
        self.strategy.model
    }

    /// Whether the goal can be reached: that two accesses race, or that threads deadlock.
    pub fn certify(&self, goal: impl Into<Goal>, budget: &Budget<'_>) -> Certified {
        match self.decide(&goal.into(), budget, Keep::Reasons, Certificate::new) {
            Decided::Reached(witness) => Certified::Reached(witness),
            Decided::Refuted(certificate) => Certified::Refuted(certificate),
            Decided::Undecided(limit) => Certified::Undecided(limit),
        }
    }

    /// The same answer without a certificate: whether the goal can be reached, if that is decided in time. What is
    /// found out on the way is not kept.
    pub fn decides(&self, goal: impl Into<Goal>, budget: &Budget<'_>) -> Option<bool> {
        match self.decide(&goal.into(), budget, Keep::Nothing, |_, _| ()) {
            Decided::Reached(_) => Some(true),
            Decided::Refuted(()) => Some(false),
            Decided::Undecided(_) => None,
        }
    }

    /// Why the goal cannot be reached, in words, if a certificate says so: also where that takes a search.
    pub fn explain(&self, goal: impl Into<Goal>, budget: &Budget<'_>) -> Option<Vec<String>> {
        let limits = limits(budget);
        let words = |window: &Window<'_>, steps: Vec<_>| words::reasons(window, &steps, &limits);
        match self.decide(&goal.into(), budget, Keep::Reasons, words) {
            Decided::Refuted(reasons) => Some(reasons),
            Decided::Reached(_) | Decided::Undecided(_) => None,
        }
    }

    fn decide<T>(
        &self,
        goal: &Goal,
        budget: &Budget<'_>,
        keep: Keep,
        form: impl Fn(&Window<'_>, Vec<CertificateStep>) -> T,
    ) -> Decided<T> {
        let PinningStrategy { model, same_write, .. } = self.strategy;
        let question = WindowQuestion { goal, model, same_write, twins: None };
        let window = Window::new(&self.index, None, Border::Fixed, question, 0, self.index.len());
        if window.next.iter().any(|&event| window.event(event).unexplained) {
            return Decided::Refuted(form(&window, vec![CertificateStep::Axiom(Axiom::Unexplained)]));
        }
        match decide_in(goal, &window, &limits(budget), keep) {
            Decided::Undecided(_) if budget.is_stopped() => Decided::Undecided(Limit::Stopped),
            Decided::Reached(_) if self.index.has_unknown_barriers() => Decided::Undecided(Limit::Meeting),
            Decided::Reached(witness) => Decided::Reached(witness),
            Decided::Refuted(steps) => Decided::Refuted(form(&window, steps)),
            Decided::Undecided(limit) => Decided::Undecided(limit),
        }
    }
}

fn limits<'b>(budget: &Budget<'b>) -> SearchLimits<'b> {
    SearchLimits { conflicts: None, deadline: budget.deadline(), stop: Some(budget.stop) }
}

/// What is kept of what is found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keep {
    Reasons,
    Nothing,
}

/// An answer, with what a refutation is wanted for.
enum Decided<T> {
    Reached(Witness),
    Refuted(T),
    Undecided(Limit),
}

/// Whether the goal of the window, which is the whole trace, can be reached.
fn decide_in(
    goal: &Goal,
    window: &Window<'_>,
    limits: &SearchLimits<'_>,
    keep: Keep,
) -> Decided<Vec<CertificateStep>> {
    if predictor::is_too_large(window) {
        return Decided::Undecided(Limit::Memory);
    }
    let mut closure = Closure::new(window, Patience { deadline: limits.deadline, stop: limits.stop });
    if keep == Keep::Reasons {
        closure.log_derivation();
    }
    let refuted = |closure: &Closure<'_>, steps: Option<Vec<CertificateStep>>| match steps {
        Some(steps) => Decided::Refuted(steps),
        None if keep == Keep::Nothing => Decided::Refuted(Vec::new()),
        None if closure.is_out_of_time() => Decided::Undecided(Limit::Budget),
        None => Decided::Undecided(Limit::Technique),
    };
    match closure.reach_goal() {
        Ok(()) => {}
        Err(Contradiction::OutOfTime) => return Decided::Undecided(Limit::Budget),
        Err(_) => return refuted(&closure, Assembler::new(&closure).and_then(Assembler::of_clash)),
    }
    let subjects = Subjects::new(&closure);
    let reached = |schedule: &[u32]| Decided::Reached(predictor::witness(goal, window.model, 0, schedule));
    if let Some(schedule) = GreedyPlan::least(&closure, &subjects).schedule(Care::Strict) {
        return reached(&schedule);
    }
    let mut search = EncodedSearch::new(&closure, &subjects, &NoSolver);
    if keep == Keep::Reasons {
        search.log_proof();
    }
    match search.run(limits) {
        SearchOutcome::Schedule(schedule) => reached(&schedule),
        SearchOutcome::GaveUp => Decided::Undecided(Limit::Budget),
        SearchOutcome::Impossible => {
            let assembler = Assembler::new(&closure);
            refuted(&closure, assembler.and_then(|assembler| searched::certificate(&search, assembler)))
        }
    }
}
