//! The values of a replay, where the trace has symbolic values ([`crate::Model::Values`]).
//!
//! [`foretell_trace::values`] says what that means. What it leaves to us:
//! * A write whose term has no value stores what was observed if its thread has seen nothing else than observed, as a
//!   write without a term.
//! * A read of something unknown, but that is what it saw in the trace, sees what the trace shows of it.

mod arithmetic;
mod evaluation;
mod newest;

use std::collections::{BTreeMap, HashMap};

use foretell_trace::symbol::SymbolContent;
use foretell_trace::values::{Demand, Values};
use foretell_trace::{Event, EventId, ThreadId, Trace, Value, VarId};

use crate::blocked::Blocked;
use evaluation::{Evaluation, EvaluationNode, EvaluationOutcome};

pub(crate) use arithmetic::Known;
pub(crate) use evaluation::EvaluationTurn;
pub(crate) use newest::newest_reads;

/// What a variable holds, or what a read has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecomputedContent {
    /// `None` if that is not known.
    pub(crate) value: Option<Known>,
    /// Whether it is what the last write stored in the trace, or what the read saw there.
    pub(crate) as_observed: bool,
}

/// The values of a replay in progress.
#[derive(Clone, Debug)]
pub(crate) struct Computed<'t> {
    trace: &'t Trace,
    values: &'t Values,
    /// What the variables hold that something was written to.
    written: BTreeMap<VarId, RecomputedContent>,
    /// What each read that has run has seen. Only grows.
    seen: BTreeMap<EventId, RecomputedContent>,
    /// The values of terms that this thread has evaluated. They do not change: all reads that they depend on have run.
    /// Which reads *everything* stands for depends on the thread.
    settled: HashMap<(ThreadId, EvaluationNode), EvaluationOutcome>,
}

impl<'t> Computed<'t> {
    /// Nothing has run.
    pub(crate) fn new(trace: &'t Trace, values: &'t Values) -> Computed<'t> {
        Computed { trace, values, written: BTreeMap::new(), seen: BTreeMap::new(), settled: HashMap::new() }
    }

    /// What the variable holds, if something was written to it.
    pub(crate) fn held(&self, var: VarId) -> Option<RecomputedContent> {
        self.written.get(&var).copied()
    }

    /// What the read has seen, if it has run.
    pub(crate) fn seen(&self, read: EventId) -> Option<RecomputedContent> {
        self.seen.get(&read).copied()
    }

    /// A value of the trace as one that can be computed with.
    pub(crate) fn shown(&self, value: Value) -> Known {
        self.trace.names().value_number(value).map_or(Known::Name(value), Known::Number)
    }

    /// What a read of something that holds this sees; `same_write` is whether it is of the same write as in the trace.
    pub(crate) fn sees(&self, event: &Event, held: RecomputedContent, same_write: bool) -> RecomputedContent {
        let shown = event.op.value_read().map(|value| self.shown(value));
        if event.unexplained {
            // The write from outside comes just before, whatever was there.
            return RecomputedContent { value: shown, as_observed: true };
        }
        let unchanged = same_write && held.as_observed;
        let value = held.value.or(shown.filter(|_| unchanged));
        RecomputedContent { value, as_observed: if shown.is_some() { value == shown } else { unchanged } }
    }

    /// The event sees this.
    pub(crate) fn read(&mut self, id: EventId, content: RecomputedContent) {
        self.seen.insert(id, content);
    }

    /// The variable holds this.
    pub(crate) fn set(&mut self, var: VarId, content: RecomputedContent) {
        self.written.insert(var, content);
    }

    /// What the event, a write, stores.
    pub(crate) fn stores(&mut self, turn: EvaluationTurn, observed: Option<Value>) -> RecomputedContent {
        let observed = observed.map(|value| self.shown(value));
        let mut evaluation = Evaluation::new(self, turn);
        let computed = self.values.written(turn.event).and_then(|term| evaluation.value(term));
        let settled = evaluation.into_settled();
        self.settle(turn.thread, settled);
        let value = computed.or(observed.filter(|_| !turn.has_deviated));
        RecomputedContent {
            value,
            as_observed: if observed.is_some() { value == observed } else { !turn.has_deviated },
        }
    }

    /// Lets the event take place if what it demands holds.
    pub(crate) fn take_place(&mut self, turn: EvaluationTurn) -> Result<(), Blocked> {
        let settled = self.demands_hold(turn, |_| true)?;
        self.settle(turn.thread, settled);
        Ok(())
    }

    /// Whether what the event demands holds, as far as it is `asked` for.
    pub(crate) fn could_take_place(
        &self,
        turn: EvaluationTurn,
        asked: impl Fn(&Demand) -> bool,
    ) -> Result<(), Blocked> {
        self.demands_hold(turn, asked).map(drop)
    }

    /// The same, and what was found out on the way.
    fn demands_hold(
        &self,
        turn: EvaluationTurn,
        asked: impl Fn(&Demand) -> bool,
    ) -> Result<Vec<(EvaluationNode, EvaluationOutcome)>, Blocked> {
        let demands = self.values.demands(turn.event);
        if demands.is_empty() {
            return Ok(Vec::new());
        }
        let mut evaluation = Evaluation::new(self, turn);
        for demand in demands.iter().filter(|demand| asked(demand)) {
            let found = evaluation.value(demand.term);
            if found != Some(self.wanted(demand)) {
                let signed = self.values.is_signed();
                return Err(Blocked::OtherWay { wanted: demand.value, found, signed });
            }
        }
        Ok(evaluation.into_settled())
    }

    /// What the demand asks for. A name that spells a number is that number.
    fn wanted(&self, demand: &Demand) -> Known {
        match demand.value {
            Known::Name(value) => self.shown(value),
            number @ Known::Number(_) => number,
        }
    }

    fn settled(&self, thread: ThreadId, node: EvaluationNode) -> Option<EvaluationOutcome> {
        self.settled.get(&(thread, node)).copied()
    }

    fn settle(&mut self, thread: ThreadId, settled: Vec<(EvaluationNode, EvaluationOutcome)>) {
        self.settled.extend(settled.into_iter().map(|(node, outcome)| ((thread, node), outcome)));
    }

    /// All that the future depends on: what variables hold, and what reads have seen. How many of each there are
    /// follows from how far the threads are.
    pub(crate) fn key(&self) -> impl Iterator<Item = u32> {
        self.written.values().chain(self.seen.values()).flat_map(|content| content.key())
    }
}

impl RecomputedContent {
    #[expect(clippy::cast_possible_truncation, reason = "both halves are kept")]
    fn key(self) -> [u32; 3] {
        let (kind, number) = match self.value {
            None => (0, 0),
            Some(Known::Number(number)) => (1, number),
            Some(Known::Name(value)) => match value.0.content() {
                SymbolContent::Named(index) => (2, index as u64),
                SymbolContent::Number(number) => (3, number.into()),
            },
        };
        let [low, high] = [number, number >> 32].map(|half| (half & u64::from(u32::MAX)) as u32);
        [kind << 1 | u32::from(self.as_observed), low, high]
    }
}
