//! Decides goals, one at a time.
//!
//! A goal is looked at through windows around its events that grow until one of them gives the answer. Each is looked
//! at twice: with everything outside of it fixed (a schedule found there is a schedule of the trace), and with
//! everything outside of it left open (what is impossible there is impossible). So a goal costs what its answer
//! costs, however long the trace is. The last window is the whole trace, where the two are the same, and the answer
//! is exact.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use foretell_arithmetic::Solver;
use foretell_detect::Pair;
use foretell_solve::SearchLimits;
use foretell_trace::{Event, EventId, Model, Op, ThreadId, Trace};

use crate::causal::Causal;
use crate::closure::{Closure, Contradiction, Patience};
use crate::encode::SearchOutcome;
use crate::explain;
use crate::goal::Goal;
use crate::greedy::{Care, GreedyPlan};
use crate::index::{Index, Unknown};
use crate::m2;
use crate::part::Part;
use crate::portfolio::{self, Portfolio};
use crate::replay::Subjects;
use crate::technique::{Decider, PinningStrategy, Technique};
use crate::values;
use crate::verdict::{Budget, Limit, Refutation, Verdict, Witness};
use crate::window::{Border, Window, WindowQuestion};

/// The windows around a goal exceed its events by so many events on either side.
const MARGINS: &[u32] = &[100, 1_000, 10_000, 100_000];
/// So many of the windows are looked at before more passes over the trace tell more of what runs before what.
const GLANCES: usize = 2;
/// How many conflicts a search may have before a larger window is tried.
const FIRST_CONFLICTS: u64 = 2000;
/// A window whose vector clocks would have more entries than this does not fit.
const LARGEST_CLOCKS: u64 = 1 << 28;

/// One technique, prepared for one trace. Can be shared by threads that work on different pairs.
#[derive(Debug)]
pub struct Predictor<'t> {
    index: Index<'t>,
    /// What runs before what, as far as a glance tells,
    causal: Causal,
    /// and as far as more of them tell, if that is more; found when it is first needed.
    deeper: OnceLock<Option<Causal>>,
    strategy: PinningStrategy,
    window: Option<u32>,
    /// Solves arithmetic problems.
    solver: Arc<dyn Solver>,
    /// Which searches decide what the closure leaves open.
    portfolio: Portfolio,
    /// By how many events the windows around a goal exceed its events on either side.
    margins: &'static [u32],
    /// Windows begin no later than here: nothing after it was observed.
    observed: u32,
    /// The same without barriers at which it is unknown which threads can meet, if there are any: a "no" is asked again
    /// here.
    doubt: Option<Box<Predictor<'t>>>,
}

/// How much is to be known of what runs before what.
#[derive(Clone, Copy)]
enum Depth {
    /// What one pass over the trace tells.
    Glance,
    All,
}

/// What one window says.
enum WindowAnswer {
    Yes(Vec<u32>),
    No(Refutation),
    Unknown(Limit),
}

/// How hard to try.
struct Effort<'a> {
    limits: SearchLimits<'a>,
    /// Solves arithmetic problems.
    solver: &'a dyn Solver,
    /// Which searches take part.
    portfolio: Portfolio,
    /// What is known to run before what, if that is to be used: it saves time, but gives no reasons.
    causal: Option<&'a Causal>,
}

impl<'t> Predictor<'t> {
    /// A predictor for the technique, if it decides pairs one at a time. With a `window`, only schedules are looked
    /// for that leave the trace as it is outside one window of that many events. The `solver` is for techniques that
    /// compute values.
    pub fn new(
        trace: &'t Trace,
        technique: Technique,
        window: Option<usize>,
        solver: Arc<dyn Solver>,
    ) -> Option<Predictor<'t>> {
        Predictor::of_part(trace, technique, window, solver, None)
    }

    /// The same for a trace that may be a part of a longer one: what it proves and refutes holds for that one, too.
    pub fn of_part(
        trace: &'t Trace,
        technique: Technique,
        window: Option<usize>,
        solver: Arc<dyn Solver>,
        part: Option<Part>,
    ) -> Option<Predictor<'t>> {
        let given =
            |unknown| Predictor::given(trace, technique, window, Arc::clone(&solver), (unknown, part));
        let mut predictor = given(Unknown::AsRecorded)?;
        if predictor.index.has_unknown_barriers() {
            predictor.doubt = given(Unknown::Open).map(Box::new);
        }
        Some(predictor)
    }

    fn given(
        trace: &'t Trace,
        technique: Technique,
        window: Option<usize>,
        solver: Arc<dyn Solver>,
        (unknown, part): (Unknown, Option<Part>),
    ) -> Option<Predictor<'t>> {
        let strategy = technique.strategy(trace)?;
        if part.is_some() && !is_for_parts(strategy) {
            return None;
        }
        let mut index = Index::new(trace, unknown);
        index.set_part(part);
        if strategy.same_write && strategy.model == Model::Necessary {
            // Who compares values finds by itself that these see what they must see.
            index.let_settled_reads_go();
        }
        if strategy.model == Model::Values {
            index.pin_reads();
        }
        // Elsewhere it may be used in another way.
        if strategy.decider != Decider::Closure && part.is_none() {
            index.find_spin_locks(strategy.model, strategy.decider == Decider::Complete);
        }
        let causal = Causal::new(&index, strategy.model, strategy.same_write);
        let window = window.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        let observed = if strategy.model == Model::Values { first_hidden(trace) } else { u32::MAX };
        Some(Predictor {
            index,
            causal,
            deeper: OnceLock::new(),
            strategy,
            window,
            solver,
            portfolio: Portfolio::default(),
            margins: MARGINS,
            observed,
            doubt: None,
        })
    }

    /// The same with these searches only, to compare them.
    #[must_use]
    pub fn searching_by(mut self, portfolio: Portfolio) -> Predictor<'t> {
        self.portfolio = portfolio;
        self.doubt = self.doubt.map(|doubt| Box::new(doubt.searching_by(portfolio)));
        self
    }

    /// The same with windows around a goal that exceed its events by so many events on either side, one after the
    /// other, so that tests need no long traces.
    #[must_use]
    pub fn looking_around(mut self, margins: &'static [u32]) -> Predictor<'t> {
        self.margins = margins;
        self.doubt = self.doubt.map(|doubt| Box::new(doubt.looking_around(margins)));
        self
    }

    /// The trace that this is about.
    pub fn trace(&self) -> &'t Trace {
        self.index.trace
    }

    /// The last event of `thread` that runs before `event` in every schedule of the model that gets as far as
    /// `event`, as far as a glance tells. No access up to it can race with `event`.
    pub fn last_before(&self, event: EventId, thread: ThreadId) -> Option<EventId> {
        if let Some(doubt) = &self.doubt {
            return doubt.last_before(event, thread);
        }
        let count = self.causal.before(number(event), thread.index()).checked_sub(1)?;
        let last = self.index.threads.get(thread.index())?.get(count as usize)?;
        EventId::from_index(*last as usize)
    }

    /// Whether the two can be made adjacent.
    pub fn decide(&self, pair: Pair, budget: &Budget<'_>) -> Verdict {
        self.decide_goal(&Goal::from(pair), budget)
    }

    /// Whether a schedule reaches the goal. Techniques that are not exact know races only.
    pub fn decide_goal(&self, goal: &Goal, budget: &Budget<'_>) -> Verdict {
        self.decide_with(goal, budget, false)
    }

    /// As [`Predictor::decide`], and a "no" says why.
    pub fn explain(&self, pair: Pair, budget: &Budget<'_>) -> Verdict {
        self.explain_goal(&Goal::from(pair), budget)
    }

    /// As [`Predictor::decide_goal`], and a "no" says why.
    pub fn explain_goal(&self, goal: &Goal, budget: &Budget<'_>) -> Verdict {
        self.decide_with(goal, budget, true)
    }

    fn decide_with(&self, goal: &Goal, budget: &Budget<'_>, explained: bool) -> Verdict {
        let limits = SearchLimits {
            conflicts: Some(FIRST_CONFLICTS),
            deadline: budget.deadline(),
            stop: Some(budget.stop),
        };
        if goal.next.iter().any(|&event| self.index.event(number(event)).unexplained) {
            // The external writer of what it saw may have synchronised with its thread.
            let steps = vec!["no recorded write explains what one of the two saw".to_string()];
            return Verdict::Unreachable(Refutation { steps });
        }
        let causal = Some(&self.causal).filter(|_| !explained);
        let mut effort = Effort { limits, solver: &*self.solver, portfolio: self.portfolio, causal };
        let verdict = match self.window {
            None => self.decide_in_all(goal, &mut effort, budget.stop),
            Some(size) => self.decide_in_windows(goal, size, &mut effort),
        };
        let verdict = match (verdict, &self.doubt) {
            (Verdict::Unreachable(why), Some(doubt)) => doubt.decide_without(goal, budget, why),
            (verdict, _) => verdict,
        };
        match verdict {
            Verdict::Undecided(_) if budget.is_stopped() => Verdict::Undecided(Limit::Stopped),
            Verdict::Undecided(Limit::Budget) if self.solver.is_unavailable() => {
                Verdict::Undecided(Limit::Solver)
            }
            verdict => verdict,
        }
    }

    /// A goal was refuted, for this reason. That holds if it is impossible even without the barriers in doubt.
    fn decide_without(&self, goal: &Goal, budget: &Budget<'_>, why: Refutation) -> Verdict {
        match self.decide_goal(goal, budget) {
            Verdict::Unreachable(_) => Verdict::Unreachable(why),
            Verdict::Reached(_) | Verdict::NotInWindow => Verdict::Undecided(Limit::Meeting),
            undecided => undecided,
        }
    }

    fn decide_in_all<'a>(&'a self, goal: &Goal, effort: &mut Effort<'a>, stop: &AtomicBool) -> Verdict {
        let (from, all) = (self.border(), self.index.len());
        for depth in [Depth::Glance, Depth::All] {
            let margins = match depth {
                Depth::Glance => &self.margins[..self.margins.len().min(GLANCES)],
                Depth::All if self.deepen(effort, stop) => self.margins,
                Depth::All => &self.margins[self.margins.len().min(GLANCES)..],
            };
            for (begin, end) in around(goal, margins, from, all) {
                match self.look(goal, begin, end, effort) {
                    Verdict::NotInWindow | Verdict::Undecided(_) => {}
                    decided => return decided,
                }
                if effort.patience().is_over() {
                    return Verdict::Undecided(Limit::Budget);
                }
            }
        }
        effort.limits.conflicts = None;
        self.look(goal, from, all, effort)
    }

    /// Does now what else is done when a goal first needs it, and is shared by all goals.
    pub fn prepare(&self, stop: &AtomicBool) {
        self.deeper(stop);
    }

    /// What more passes over the trace tell of what runs before what, if that is any more.
    fn deeper(&self, stop: &AtomicBool) -> Option<&Causal> {
        let PinningStrategy { model, same_write, .. } = self.strategy;
        let deepened = || self.causal.deepened(&self.index, model, same_write, stop);
        self.deeper.get_or_init(deepened).as_ref()
    }

    /// From here on uses that. Tells whether there is any.
    fn deepen<'a>(&'a self, effort: &mut Effort<'a>, stop: &AtomicBool) -> bool {
        if effort.causal.is_none() {
            return false;
        }
        let begin = Instant::now();
        let deeper = self.deeper(stop);
        // All goals share this, so it is not part of the time for one.
        effort.limits.deadline =
            effort.limits.deadline.and_then(|deadline| deadline.checked_add(begin.elapsed()));
        effort.causal = deeper.or(effort.causal);
        deeper.is_some()
    }

    /// Looks through windows of a given size: one with the goal in its middle, and those that overlap by half.
    fn decide_in_windows(&self, goal: &Goal, size: u32, effort: &mut Effort<'_>) -> Verdict {
        let all = self.index.len();
        let (first, second) = span(goal);
        let Some(spare) = size.checked_sub(second - first + 1) else { return Verdict::NotInWindow };
        effort.limits.conflicts = None;
        let step = (size / 2).max(1);
        let earliest = (second + 1).saturating_sub(size).max(self.border()).div_ceil(step);
        let overlapping =
            (earliest..).map_while(|number| number.checked_mul(step)).take_while(|&begin| begin <= first);
        let mut verdict = Verdict::NotInWindow;
        let around = first.saturating_sub(spare / 2).max(self.border());
        for begin in std::iter::once(around).chain(overlapping) {
            match self.look(goal, begin, begin.saturating_add(size).min(all), effort) {
                Verdict::NotInWindow => {}
                Verdict::Undecided(limit) => verdict = Verdict::Undecided(limit),
                decided => return decided,
            }
        }
        verdict
    }

    /// Where windows may begin: what brings about the state in which a part begins stays where it is.
    fn border(&self) -> u32 {
        self.index.part.map_or(0, |part| part.border)
    }

    /// The part of a longer trace that this is about, if it is one.
    pub(crate) fn part(&self) -> Option<Part> {
        self.index.part
    }

    /// Looks for an answer in one window.
    fn look(&self, goal: &Goal, begin: u32, end: u32, effort: &Effort<'_>) -> Verdict {
        let begin = begin.min(self.observed);
        let whole = begin == 0 && end == self.index.len() && self.index.part.is_none();
        if !whole && let WindowAnswer::No(why) = self.ask(goal, Border::Open, begin, end, effort) {
            return Verdict::Unreachable(why);
        }
        // Only what is exact may settle for less than the whole trace, unless windows are all there is.
        if self.strategy.decider != Decider::Exact && !whole && self.window.is_none() {
            return Verdict::NotInWindow;
        }
        match self.ask(goal, Border::Fixed, begin, end, effort) {
            WindowAnswer::Yes(schedule) => {
                Verdict::Reached(witness(goal, self.strategy.model, begin, &schedule))
            }
            WindowAnswer::No(why) if whole => Verdict::Unreachable(why),
            WindowAnswer::No(_) => Verdict::NotInWindow,
            WindowAnswer::Unknown(limit) => Verdict::Undecided(limit),
        }
    }

    /// What the technique finds in one window.
    fn ask(&self, goal: &Goal, border: Border, begin: u32, end: u32, effort: &Effort<'_>) -> WindowAnswer {
        let PinningStrategy { model, same_write, decider } = self.strategy;
        let question = WindowQuestion { goal, model, same_write, twins: None };
        let window = |question| Window::new(&self.index, effort.causal, border, question, begin, end);
        match decider {
            // What reads see from outside of an open window may be anything, and with that what is computed from it.
            Decider::Exact if model == Model::Values && border == Border::Open => {
                closure_only(&window(question), effort)
            }
            Decider::Exact => exact(&window(question), effort),
            Decider::Closure => {
                let least = closure_only(&window(question), effort);
                match least {
                    WindowAnswer::Unknown(Limit::Technique) if border == Border::Fixed => {
                        let schedule = m2::schedule(window(question), effort.patience());
                        schedule.map_or_else(|| WindowAnswer::Unknown(effort.limit()), WindowAnswer::Yes)
                    }
                    least => least,
                }
            }
            Decider::Complete => {
                let &[first, second] = &goal.next[..] else { return WindowAnswer::Unknown(Limit::Technique) };
                let (first, second) = (number(first), number(second));
                let in_order =
                    |twins| exact(&window(WindowQuestion { twins: Some(twins), ..question }), effort);
                match in_order([first, second]) {
                    WindowAnswer::Yes(schedule) => WindowAnswer::Yes(schedule),
                    WindowAnswer::No(_) => in_order([second, first]),
                    WindowAnswer::Unknown(limit) => match in_order([second, first]) {
                        WindowAnswer::Yes(schedule) => WindowAnswer::Yes(schedule),
                        WindowAnswer::No(_) | WindowAnswer::Unknown(_) => WindowAnswer::Unknown(limit),
                    },
                }
            }
        }
    }
}

/// The schedule of a window as one of the trace.
pub(crate) fn witness(goal: &Goal, model: Model, begin: u32, schedule: &[u32]) -> Witness {
    let is_next = |event: u32| goal.next.iter().any(|&next| number(next) == begin + event);
    let before = schedule.iter().take_while(|&&event| !is_next(event));
    let events = (0..begin).chain(before.map(|&event| begin + event));
    let ids = events.filter_map(|event| EventId::from_index(event as usize));
    Witness { model, schedule: ids.chain(goal.next.iter().copied()).collect() }
}

/// The first read or write that does not show its value, where values can be computed: what comes before it is as it
/// was observed.
fn first_hidden(trace: &Trace) -> u32 {
    let is_hidden = |event: &Event| {
        event.op.access().is_some_and(|access| {
            (access.kind.reads() && event.op.value_read().is_none())
                || (access.kind.writes() && event.op.value_written().is_none())
        }) && !matches!(event.op, Op::Free(_))
    };
    let first = trace.events().iter().position(is_hidden);
    first.and_then(|index| u32::try_from(index).ok()).unwrap_or(u32::MAX)
}

/// Whether the clocks of a window would be too large.
pub(crate) fn is_too_large(window: &Window<'_>) -> bool {
    u64::from(window.len()).saturating_mul(window.threads.len() as u64) > LARGEST_CLOCKS
}

fn exact(window: &Window<'_>, effort: &Effort<'_>) -> WindowAnswer {
    if is_too_large(window) {
        return WindowAnswer::Unknown(Limit::Memory);
    }
    let closure = match Closure::of_goal(window, effort.patience()) {
        Ok(closure) => closure,
        Err(Contradiction::OutOfTime) => return WindowAnswer::Unknown(Limit::Budget),
        Err(contradiction) => return WindowAnswer::No(effort.refutation(&contradiction, window)),
    };
    let subjects = Subjects::new(&closure);
    let schedule = GreedyPlan::least(&closure, &subjects).schedule(Care::Strict);
    if let Some(schedule) = schedule.filter(|schedule| values::demands_hold(window, schedule)) {
        return WindowAnswer::Yes(schedule);
    }
    match portfolio::search(&closure, &subjects, effort.solver, &effort.limits, effort.portfolio) {
        SearchOutcome::Schedule(schedule) => WindowAnswer::Yes(schedule),
        SearchOutcome::Impossible => WindowAnswer::No(Refutation::default()),
        SearchOutcome::GaveUp if effort.patience().is_over() => WindowAnswer::Unknown(Limit::Budget),
        SearchOutcome::GaveUp => WindowAnswer::Unknown(Limit::Memory),
    }
}

/// What the closure alone can refute.
fn closure_only(window: &Window<'_>, effort: &Effort<'_>) -> WindowAnswer {
    if is_too_large(window) {
        return WindowAnswer::Unknown(Limit::Memory);
    }
    match Closure::of_goal(window, effort.patience()) {
        Ok(_) => WindowAnswer::Unknown(Limit::Technique),
        Err(Contradiction::OutOfTime) => WindowAnswer::Unknown(Limit::Budget),
        Err(contradiction) => WindowAnswer::No(effort.refutation(&contradiction, window)),
    }
}

impl<'a> Effort<'a> {
    fn patience(&self) -> Patience<'a> {
        Patience { deadline: self.limits.deadline, stop: self.limits.stop }
    }

    /// What ran out if a technique as published has no answer.
    fn limit(&self) -> Limit {
        if self.patience().is_over() { Limit::Budget } else { Limit::Technique }
    }

    fn refutation(&self, contradiction: &Contradiction, window: &Window<'_>) -> Refutation {
        if self.causal.is_none() { explain::refutation(contradiction, window) } else { Refutation::default() }
    }
}

/// The first and the last event of the goal.
fn span(goal: &Goal) -> (u32, u32) {
    let (mut first, mut last) = (u32::MAX, 0);
    for event in goal.events().map(number) {
        (first, last) = (first.min(event), last.max(event));
    }
    (first.min(last), last)
}

/// Whether the technique can say anything about a part of a trace: the decision on a pair must not need all of it.
fn is_for_parts(strategy: PinningStrategy) -> bool {
    let is_local = match strategy.model {
        Model::SameWrite | Model::SameValue | Model::ControlFlow => true,
        Model::Necessary | Model::Values => false,
    };
    is_local && strategy.decider == Decider::Exact
}

/// Windows around a goal that are smaller than the trace, which begins at `from`.
fn around(
    goal: &Goal,
    margins: &'static [u32],
    from: u32,
    all: u32,
) -> impl Iterator<Item = (u32, u32)> + use<> {
    let (first, second) = span(goal);
    let window = move |margin: u32| {
        (first.saturating_sub(margin).max(from), second.saturating_add(1).saturating_add(margin).min(all))
    };
    margins.iter().copied().map(window).take_while(move |&(begin, end)| begin > from || end < all)
}

fn number(event: EventId) -> u32 {
    event.number() - 1
}
