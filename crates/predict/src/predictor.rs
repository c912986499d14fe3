//! Decides pairs, one at a time.
//!
//! A pair is looked at through windows around it that grow until one of them gives the answer. Each is looked at
//! twice: with everything outside of it fixed (a schedule found there is a schedule of the trace), and with everything
//! outside of it left open (what is impossible there is impossible). So a pair costs what its answer costs, however
//! long the trace is. The last window is the whole trace, where the two are the same, and the answer is exact.

use foretell_detect::Pair;
use foretell_solve::Limits;
use foretell_trace::{EventId, ThreadId, Trace};

use crate::closure::Closure;
use crate::encode::{Outcome, Search};
use crate::greedy::{Care, Plan};
use crate::index::Index;
use crate::replay::Subjects;
use crate::technique::Technique;
use crate::verdict::{Budget, Limit, Pinning, Refutation, Verdict, Witness};
use crate::window::{Border, Question, Window};

/// By how many events the windows around a pair exceed it on either side.
const MARGINS: [u32; 4] = [100, 1_000, 10_000, 100_000];
/// How many conflicts a search may have before a larger window is tried.
const FIRST_CONFLICTS: u64 = 200;
/// A window whose vector clocks would have more entries than this does not fit.
const LARGEST_CLOCKS: u64 = 1 << 29;

/// One technique, prepared for one trace. Can be shared by threads that work on different pairs.
#[derive(Debug)]
pub struct Predictor<'t> {
    index: Index<'t>,
    pinning: Pinning,
    window: Option<u32>,
}

impl<'t> Predictor<'t> {
    /// A predictor for the technique, if it decides pairs one at a time. With a `window`, only schedules are looked
    /// for that leave the trace as it is outside one window of that many events.
    pub fn new(trace: &'t Trace, technique: Technique, window: Option<usize>) -> Option<Predictor<'t>> {
        let pinning = match technique {
            Technique::Rf => Pinning::SameWrite,
            Technique::Mcm => Pinning::SameValue,
            Technique::Rv if trace.has_branches() => Pinning::ControlFlow,
            Technique::Rv => Pinning::SameValue,
            _ => return None,
        };
        let window = window.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        Some(Predictor { index: Index::new(trace), pinning, window })
    }

    /// The trace that this is about.
    pub fn trace(&self) -> &'t Trace {
        self.index.trace
    }

    /// The last event of `thread` that runs before `event` in every schedule of the model that gets as far as
    /// `event`, as far as a glance tells. No access up to it can race with `event`.
    pub fn last_before(&self, event: EventId, thread: ThreadId) -> Option<EventId> {
        let _ = (event, thread);
        None
    }

    /// Whether the two can be made adjacent.
    pub fn decide(&self, pair: Pair, budget: &Budget<'_>) -> Verdict {
        let question = Question { pair: (number(pair.first), number(pair.second)), pinning: self.pinning, complete: false };
        let mut limits = Limits { conflicts: None, deadline: budget.deadline(), stop: Some(budget.stop) };
        for (begin, end) in self.windows(question.pair) {
            limits.conflicts = Some(FIRST_CONFLICTS);
            if let Some(verdict) = self.look(pair, question, begin, end, &limits) {
                return verdict;
            }
            if budget.is_stopped() {
                return Verdict::Undecided(Limit::Stopped);
            }
        }
        limits.conflicts = None;
        let verdict = self.look(pair, question, 0, self.index.len(), &limits);
        let limit = if budget.is_stopped() { Limit::Stopped } else { Limit::Budget };
        verdict.unwrap_or(Verdict::Undecided(limit))
    }

    /// The windows around a pair that are smaller than the trace.
    fn windows(&self, pair: (u32, u32)) -> impl Iterator<Item = (u32, u32)> {
        let all = self.index.len();
        let around = move |margin: u32| {
            (pair.0.saturating_sub(margin), pair.1.saturating_add(1).saturating_add(margin).min(all))
        };
        MARGINS.into_iter().map(around).take_while(move |&(begin, end)| begin > 0 || end < all)
    }

    /// Looks for an answer in one window.
    fn look(&self, pair: Pair, question: Question, begin: u32, end: u32, limits: &Limits<'_>) -> Option<Verdict> {
        let whole = begin == 0 && end == self.index.len();
        if !whole {
            let open = Window::new(&self.index, Border::Open, question, begin, end);
            if let Answer::No = answer(&open, limits) {
                return Some(Verdict::NoRace(Refutation::default()));
            }
        }
        let fixed = Window::new(&self.index, Border::Fixed, question, begin, end);
        match answer(&fixed, limits) {
            Answer::Yes(schedule) => Some(Verdict::Race(self.witness(pair, begin, &schedule))),
            Answer::No if whole => Some(Verdict::NoRace(Refutation::default())),
            Answer::No | Answer::Unknown => None,
        }
    }

    fn witness(&self, pair: Pair, begin: u32, schedule: &[u32]) -> Witness {
        let events = (0..begin).chain(schedule.iter().map(|&event| begin + event));
        let ids = events.filter_map(|event| EventId::from_index(event as usize));
        Witness { pinning: self.pinning, schedule: ids.chain([pair.first, pair.second]).collect() }
    }
}

enum Answer {
    Yes(Vec<u32>),
    No,
    Unknown,
}

fn answer(window: &Window<'_>, limits: &Limits<'_>) -> Answer {
    if u64::from(window.len()).saturating_mul(window.threads.len() as u64) > LARGEST_CLOCKS {
        return Answer::Unknown;
    }
    let Ok(closure) = Closure::of_race(window) else { return Answer::No };
    let subjects = Subjects::new(window);
    if let Some(schedule) = Plan::least(&closure, &subjects).schedule(Care::Strict) {
        return Answer::Yes(schedule);
    }
    match Search::new(&closure, &subjects).run(limits) {
        Outcome::Schedule(schedule) => Answer::Yes(schedule),
        Outcome::Impossible => Answer::No,
        Outcome::GaveUp => Answer::Unknown,
    }
}

fn number(event: EventId) -> u32 {
    event.number() - 1
}
