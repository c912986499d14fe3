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
//! * `text`: the lines; `words`: the reasons, for people

mod assemble;
mod axiom;
mod derivation;
mod paths;
mod searched;
mod text;
mod words;

use foretell_arithmetic::NoSolver;
use foretell_detect::Pair;
use foretell_solve::SearchLimits;
use foretell_trace::{Model, Trace};

pub(crate) use self::axiom::{Atom, Axiom, Literal};
pub(crate) use self::derivation::{Clash, Derivation, PinCause};
pub(crate) use self::searched::{Meanings, Statement};
pub(crate) use self::words::event_words;

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

/// The answer to "can these two accesses be adjacent?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certified {
    /// Yes, by this schedule.
    Reached(Witness),
    /// No; the text of the certificate.
    Refuted(String),
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

    /// Whether the two can be made adjacent.
    pub fn certify(&self, pair: Pair, budget: &Budget<'_>) -> Certified {
        self.decide(pair, budget, text::text)
    }

    /// Why the two cannot be made adjacent, in words, if a certificate says so: also where that takes a search.
    pub fn explain(&self, pair: Pair, budget: &Budget<'_>) -> Option<Vec<String>> {
        match self.decide(pair, budget, words::reasons) {
            Certified::Refuted(reasons) => Some(reasons.lines().map(str::to_string).collect()),
            Certified::Reached(_) | Certified::Undecided(_) => None,
        }
    }

    fn decide(&self, pair: Pair, budget: &Budget<'_>, form: Form) -> Certified {
        let PinningStrategy { model, same_write, .. } = self.strategy;
        let goal = Goal::from(pair);
        let question = WindowQuestion { goal: &goal, model, same_write, twins: None };
        let window = Window::new(&self.index, None, Border::Fixed, question, 0, self.index.len());
        if window.next.iter().any(|&event| window.event(event).unexplained) {
            return refuted(&window, Some(vec![CertificateStep::Axiom(Axiom::Unexplained)]), form);
        }
        let limits = SearchLimits { conflicts: None, deadline: budget.deadline(), stop: Some(budget.stop) };
        match decide_in(&goal, &window, &limits, form) {
            Certified::Undecided(_) if budget.is_stopped() => Certified::Undecided(Limit::Stopped),
            Certified::Reached(_) if self.index.has_unknown_barriers() => {
                Certified::Undecided(Limit::Meeting)
            }
            answer => answer,
        }
    }
}

/// Whether the goal of the window, which is the whole trace, can be reached.
fn decide_in(goal: &Goal, window: &Window<'_>, limits: &SearchLimits<'_>, form: Form) -> Certified {
    if predictor::is_too_large(window) {
        return Certified::Undecided(Limit::Memory);
    }
    let mut closure = Closure::new(window, Patience { deadline: limits.deadline, stop: limits.stop });
    closure.log_derivation();
    let refuted = |closure: &Closure<'_>, steps: Option<Vec<CertificateStep>>| match steps {
        None if closure.is_out_of_time() => Certified::Undecided(Limit::Budget),
        steps => refuted(window, steps, form),
    };
    match closure.reach_goal() {
        Ok(()) => {}
        Err(Contradiction::OutOfTime) => return Certified::Undecided(Limit::Budget),
        Err(_) => return refuted(&closure, Assembler::new(&closure).and_then(Assembler::of_clash)),
    }
    let subjects = Subjects::new(&closure);
    let reached = |schedule: &[u32]| Certified::Reached(predictor::witness(goal, window.model, 0, schedule));
    if let Some(schedule) = GreedyPlan::least(&closure, &subjects).schedule(Care::Strict) {
        return reached(&schedule);
    }
    let mut search = EncodedSearch::new(&closure, &subjects, &NoSolver);
    search.log_proof();
    match search.run(limits) {
        SearchOutcome::Schedule(schedule) => reached(&schedule),
        SearchOutcome::GaveUp => Certified::Undecided(Limit::Budget),
        SearchOutcome::Impossible => {
            let assembler = Assembler::new(&closure);
            refuted(&closure, assembler.and_then(|assembler| searched::certificate(&search, assembler)))
        }
    }
}

/// How the steps of a certificate are written down.
type Form = fn(&Window<'_>, &[CertificateStep]) -> String;

fn refuted(window: &Window<'_>, steps: Option<Vec<CertificateStep>>, form: Form) -> Certified {
    match steps {
        Some(steps) => Certified::Refuted(form(window, &steps)),
        None => Certified::Undecided(Limit::Technique),
    }
}
