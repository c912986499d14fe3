//! What variables can hold, and what reads ask of it.
//!
//! Each write leaves an *outcome*; so does whatever a variable holds at the beginning, and a read that no recorded
//! write explains. Two outcomes that no read distinguishes get the same number. A read that shows its value, from a
//! write that shows its value, asks for the value; the outcomes with one value have successive numbers, so that is a
//! range. Any other read asks for the outcome that it saw, which then has a number of its own.

use foretell_trace::{Event, Op, Trace, Value};

/// The memory of the observed run.
#[derive(Debug)]
pub(super) struct Memory {
    /// Per event: what it leaves in its variable, if it leaves anything.
    left: Vec<Option<usize>>,
    /// Per event: what it asks of its variable, if it asks anything.
    asked: Vec<Option<Question>>,
    outcomes: Vec<Outcome>,
    /// Per outcome, its number among those of its variable.
    numbers: Vec<u32>,
    /// Per variable and number, the value.
    values: Vec<Vec<Option<Value>>>,
}

#[derive(Clone, Copy, Debug)]
struct Outcome {
    var: usize,
    /// `None` where the trace does not show it.
    value: Option<Value>,
    /// Some read asks for just this outcome.
    is_asked_for: bool,
}

/// What a read wants to see.
#[derive(Clone, Copy, Debug)]
enum Question {
    Value(Value),
    Outcome(usize),
}

impl Memory {
    pub(super) fn new(trace: &Trace) -> Memory {
        let vars = trace.names().vars.len();
        // The first outcomes are what the variables hold at the beginning.
        let initial = |var| Outcome { var, value: None, is_asked_for: false };
        let mut memory = Memory {
            left: vec![None; trace.events().len()],
            asked: vec![None; trace.events().len()],
            outcomes: (0..vars).map(initial).collect(),
            numbers: Vec::new(),
            values: Vec::new(),
        };
        let mut last: Vec<usize> = (0..vars).collect();
        for (index, event) in trace.events().iter().enumerate() {
            memory.observe(index, event, &mut last);
        }
        memory.assume_zeros(trace);
        memory.number(vars);
        memory
    }

    fn observe(&mut self, index: usize, event: &Event, last: &mut [usize]) {
        let Some(access) = event.op.access() else { return };
        let var = access.var.index();
        if event.unexplained {
            last[var] = self.leave(index, var, event.op.value_read());
        } else if access.kind.reads() {
            self.asked[index] = Some(self.question(last[var], event.op.value_read()));
        }
        // Freed memory keeps what it held: it cannot be read any more.
        if access.kind.writes() && !matches!(event.op, Op::Free(_)) {
            last[var] = self.leave(index, var, event.op.value_written());
        }
    }

    fn leave(&mut self, index: usize, var: usize, value: Option<Value>) -> usize {
        self.outcomes.push(Outcome { var, value, is_asked_for: false });
        let outcome = self.outcomes.len() - 1;
        self.left[index] = Some(outcome);
        outcome
    }

    fn question(&mut self, seen: usize, value: Option<Value>) -> Question {
        let is_initial = seen == self.outcomes[seen].var;
        let outcome = &mut self.outcomes[seen];
        if is_initial && outcome.value.is_none() {
            // The first read of it that shows a value shows the initial one.
            outcome.value = value;
        }
        match (outcome.value, value) {
            (Some(_), Some(value)) => Question::Value(value),
            _ => {
                outcome.is_asked_for = true;
                Question::Outcome(seen)
            }
        }
    }

    /// Memory that no read shows in its initial state holds 0, but for allocated memory, which may hold anything.
    fn assume_zeros(&mut self, trace: &Trace) {
        let vars = trace.names().vars.len();
        let mut allocated = vec![false; vars];
        for event in trace.events() {
            if let Op::Alloc(var) = event.op {
                allocated[var.index()] = true;
            }
        }
        for (outcome, allocated) in self.outcomes.iter_mut().zip(allocated) {
            if outcome.value.is_none() && !allocated {
                outcome.value = Some(Value::ZERO);
            }
        }
    }

    fn number(&mut self, vars: usize) {
        let mut order: Vec<usize> = (0..self.outcomes.len()).collect();
        let outcomes = &self.outcomes;
        order.sort_by_key(|&index| {
            let outcome = outcomes[index];
            (outcome.var, outcome.value, outcome.is_asked_for)
        });
        self.values = vec![Vec::new(); vars];
        self.numbers = vec![0; self.outcomes.len()];
        let mut before: Option<Outcome> = None;
        for index in order {
            let outcome = self.outcomes[index];
            let values = &mut self.values[outcome.var];
            let is_same = before.is_some_and(|before| {
                (before.var, before.value) == (outcome.var, outcome.value) && !outcome.is_asked_for
            });
            if !is_same {
                values.push(outcome.value);
            }
            before = Some(outcome);
            // There are no more outcomes than events and variables.
            self.numbers[index] = u32::try_from(values.len() - 1).unwrap_or(u32::MAX);
        }
    }

    /// What each variable can hold, by number.
    pub(super) fn values(&self) -> &[Vec<Option<Value>>] {
        &self.values
    }

    /// What the variable holds at the beginning.
    pub(super) fn initial(&self, var: usize) -> u32 {
        self.numbers[var]
    }

    /// What equals nothing that was observed.
    pub(super) fn foreign(&self, var: usize) -> u32 {
        u32::try_from(self.values[var].len()).unwrap_or(u32::MAX)
    }

    /// What the event leaves in its variable.
    pub(super) fn left(&self, event: usize) -> Option<u32> {
        self.left[event].map(|outcome| self.numbers[outcome])
    }

    /// What the event wants to see in its variable: the least number, and how many more.
    pub(super) fn asked(&self, event: usize, var: usize) -> Option<(u32, u32)> {
        match self.asked[event]? {
            Question::Outcome(outcome) => Some((self.numbers[outcome], 0)),
            Question::Value(value) => {
                let values = &self.values[var];
                let begin = values.partition_point(|other| *other < Some(value));
                let end = values.partition_point(|other| *other <= Some(value));
                // The write that it saw is one of these.
                Some((u32::try_from(begin).ok()?, u32::try_from(end - begin).ok()?.checked_sub(1)?))
            }
        }
    }
}
