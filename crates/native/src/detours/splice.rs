//! A run with an untaken branch: the events up to the branch, those of the untaken side, and those that other threads
//! can still do.
//!
//! The events of other threads are those of the run, but their reads may see writes that are missing now, or new. Such
//! reads, and all that may depend on them, have no values; nor have values that are known only for the reads of the
//! run.

use foretell_depend::{Course, Detour};
use foretell_symbolic::{UntakenPath, without_value};
use foretell_trace::dependence::Part;
use foretell_trace::values::{Demand, Demanded, Term, TermId, Values};
use foretell_trace::{
    Dependence, Event, EventId, Listed, Op, Reads, Steps, ThreadId, Trace, TraceError, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes the detour of a way.
pub(super) fn splice(run: &Trace, seed: &UntakenPath) -> Result<Detour, TraceError> {
    let rest = what_remains(run, seed);
    let spliced = Spliced::new(run, seed, &rest);
    let (events, steps) = spliced.events();
    let total = events.len();
    let (dependence, sets) = spliced.dependence(total);
    let values = spliced.values(total, &sets).ok_or(TraceError::TooManyEvents)?;
    let listed = Listed::new(events, run.names().clone(), run.ending()).with_steps(steps);
    let trace = Trace::check(listed)?.with_dependence(dependence)?.with_values(values)?;
    let id = |index: usize| EventId::from_index(index).ok_or(TraceError::TooManyEvents);
    let before = (0..seed.after).map(Some).chain(seed.events.iter().map(|_| None));
    let origins = before.chain(rest.iter().map(|&(index, _)| Some(index)));
    let origins = origins.map(|index| index.and_then(EventId::from_index)).collect();
    let added = (seed.after + 1..seed.after + seed.events.len()).map(id).collect::<Result<_, _>>()?;
    Ok(Detour { trace, branch: id(seed.after)?, added, origins })
}

/// The events of other threads after the branch that are still possible, by their numbers in the run; each with whether
/// its values may differ from the run.
fn what_remains(run: &Trace, seed: &UntakenPath) -> Vec<(usize, bool)> {
    let forked = |event: &Event| if let Op::Fork(child) = event.op { Some(child) } else { None };
    let mut course = Course::new(run.events().iter().filter_map(forked));
    let mut memories = Memories::default();
    for (index, event) in run.events().iter().enumerate().take(seed.after) {
        course.happened(event.thread, event.op);
        memories.happened(index, event.op);
    }
    memories.imagine(seed);
    seed.events.iter().for_each(|event| course.happened(seed.thread, event.op));
    course.stop(seed.thread);
    let mut rest = Vec::new();
    for (index, event) in run.events().iter().enumerate().skip(seed.after) {
        // It is not known what such a read comes from: perhaps from what the thread did.
        if event.unexplained {
            break;
        }
        let happens = course.happens(event.thread, event.op);
        let strays = memories.run(index, event, happens);
        if happens {
            rest.push((index, strays));
        }
    }
    rest
}

/// Which write each variable holds, in the run and on the detour.
#[derive(Default)]
struct Memories {
    in_run: FxHashMap<VarId, usize>,
    /// None of the run if it is a write of the way.
    on_detour: FxHashMap<VarId, Option<usize>>,
    /// Threads that may have seen something else than in the run,
    strayed: FxHashSet<ThreadId>,
    /// and what they have written since.
    changed: FxHashSet<usize>,
}

impl Memories {
    /// Before the two part.
    fn happened(&mut self, index: usize, op: Op) {
        if let Some(var) = written(op) {
            self.in_run.insert(var, index);
            self.on_detour.insert(var, Some(index));
        }
    }

    /// What the thread writes on its way.
    fn imagine(&mut self, seed: &UntakenPath) {
        for var in seed.events.iter().filter_map(|event| written(event.op)) {
            self.on_detour.insert(var, None);
        }
    }

    /// After they have parted: something of the run, which may happen on the detour as well. Says whether its thread
    /// may have seen something else by then.
    fn run(&mut self, index: usize, event: &Event, happens: bool) -> bool {
        let reads = event.op.access().filter(|access| access.kind.reads());
        if let Some(access) = reads.filter(|_| happens) {
            let on_detour = self.on_detour.get(&access.var).copied();
            let is_same = self.in_run.get(&access.var).copied().map(Some) == on_detour;
            if !is_same || on_detour.flatten().is_some_and(|write| self.changed.contains(&write)) {
                self.strayed.insert(event.thread);
            }
        }
        if let Op::Join(other) = event.op
            && self.strayed.contains(&other)
        {
            self.strayed.insert(event.thread);
        }
        let strays = self.strayed.contains(&event.thread);
        if let (Op::Fork(child), true) = (event.op, strays) {
            self.strayed.insert(child);
        }
        if let Some(var) = written(event.op) {
            self.in_run.insert(var, index);
            if happens {
                self.on_detour.insert(var, Some(index));
                if strays {
                    self.changed.insert(index);
                }
            }
        }
        strays
    }
}

/// The variable whose content the operation changes.
fn written(op: Op) -> Option<VarId> {
    match op {
        Op::Alloc(var) => Some(var),
        op => op.access().filter(|access| access.kind.writes()).map(|access| access.var),
    }
}

/// The operation without the values that the run has shown.
fn without_values(op: Op) -> Op {
    match op {
        Op::Read { var, .. } => Op::Read { var, value: None },
        Op::Write { var, .. } => Op::Write { var, value: None },
        Op::Load { var, order, .. } => Op::Load { var, value: None, order },
        Op::Store { var, order, .. } => Op::Store { var, value: None, order },
        Op::Rmw { var, order, .. } => Op::Rmw { var, read: None, written: None, order },
        other => other,
    }
}

/// A detour in the making.
struct Spliced<'a> {
    run: &'a Trace,
    seed: &'a UntakenPath,
    rest: &'a [(usize, bool)],
    /// The new number of each event of the run that is there.
    numbers: Vec<Option<EventId>>,
    /// The reads of the run that may see something else even if everything goes as shown.
    strayed: Vec<bool>,
}

impl<'a> Spliced<'a> {
    fn new(run: &'a Trace, seed: &'a UntakenPath, rest: &'a [(usize, bool)]) -> Spliced<'a> {
        let mut numbers: Vec<Option<EventId>> = vec![None; run.events().len()];
        let mut strayed = vec![false; run.events().len()];
        for (index, number) in numbers.iter_mut().enumerate().take(seed.after) {
            *number = EventId::from_index(index);
        }
        for (place, &(index, strays)) in rest.iter().enumerate() {
            numbers[index] = EventId::from_index(seed.after + seed.events.len() + place);
            strayed[index] = strays;
        }
        Spliced { run, seed, rest, numbers, strayed }
    }

    fn events(&self) -> (Vec<Event>, Steps) {
        let since: Vec<u64> = self.run.steps().map(|steps| steps.since().collect()).unwrap_or_default();
        let (mut events, mut steps) = (Vec::new(), Steps::default());
        let mut add = |event: Event, since: u64| {
            events.push(Event { unexplained: false, ..event });
            steps.push(since);
        };
        let of = |index: usize| (self.run.events()[index], since.get(index).copied().unwrap_or(0));
        for index in 0..self.seed.after {
            let (event, since) = of(index);
            add(event, since);
        }
        for event in &self.seed.events {
            add(Event::new(self.seed.thread, event.op, event.loc), event.since);
        }
        for &(index, strays) in self.rest {
            let (event, since) = of(index);
            add(Event { op: if strays { without_values(event.op) } else { event.op }, ..event }, since);
        }
        (events, steps)
    }

    /// The new number of a read on whose value of the run something may rest; none if it may see another one.
    fn steady(&self, read: EventId) -> Option<EventId> {
        self.numbers.get(read.index()).copied().flatten().filter(|_| !self.strayed[read.index()])
    }

    /// The sets of the run as sets of the detour; none of those with reads that are gone or may see something else.
    fn dependence(&self, total: usize) -> (Dependence, Vec<Option<Reads>>) {
        let mut dependence = Dependence::new(total);
        let mut sets: Vec<Option<Reads>> = Vec::new();
        let unions = self.run.dependence().map_or(&[][..], Dependence::unions);
        for &parts in unions {
            let [one, other] = parts.map(|part| self.set(part, &sets));
            sets.push(one.zip(other).map(|(one, other)| dependence.unite(one, other)));
        }
        (dependence, sets)
    }

    fn set(&self, reads: Reads, sets: &[Option<Reads>]) -> Option<Reads> {
        match self.run.dependence()?.part(reads) {
            Part::Nothing => Some(Reads::NOTHING),
            Part::Everything => None,
            Part::Read(read) => self.steady(read).map(Reads::of),
            Part::Both(union, ..) => sets.get(union).copied().flatten(),
        }
    }

    fn values(&self, total: usize, sets: &[Option<Reads>]) -> Option<Values> {
        let of_run = self.run.values()?;
        let mut values = Values::new(total, of_run.is_signed());
        let base = self.seed.base;
        let mut terms = Terms { spliced: self, sets, of_run, numbers: FxHashMap::default() };
        // Those from before the decision keep their numbers, and so do those of the way.
        for &term in of_run.terms().iter().take(base) {
            values.add(terms.before(term))?;
        }
        let zero = TermId::from_index(base)?;
        for &term in &self.seed.terms {
            values.add(terms.of_way(term, zero))?;
        }
        let nothing = values.add(without_value(zero))?;
        for (index, event) in (0..self.seed.after).zip(self.run.events()) {
            let id = EventId::from_index(index)?;
            terms.say(&mut values, zero, (id, *event), id)?;
        }
        for (place, event) in self.seed.events.iter().enumerate() {
            let id = EventId::from_index(self.seed.after + place)?;
            for &(term, number) in &event.demands {
                values.demand(Demand { event: id, term, value: Demanded::Number(number) });
            }
            if event.op.access().is_some_and(|access| access.kind.writes()) {
                values.set_written(id, event.written.unwrap_or(nothing));
            }
        }
        for &(index, strays) in self.rest {
            let (old, new) = (EventId::from_index(index)?, self.numbers[index]?);
            let event = self.run.events()[index];
            terms.say(&mut values, zero, (old, event), new)?;
            // What was written is not what the run has shown, and it is not known how it is computed.
            if strays && of_run.written(old).is_none() && event.op.value_written().is_some() {
                values.set_written(new, nothing);
            }
        }
        Some(values)
    }
}

/// Terms of the run on their way into a detour.
struct Terms<'a> {
    spliced: &'a Spliced<'a>,
    sets: &'a [Option<Reads>],
    of_run: &'a Values,
    /// The new numbers of those from after the decision.
    numbers: FxHashMap<TermId, TermId>,
}

impl Terms<'_> {
    /// Translates the information on an event of the run to its new number.
    fn say(
        &mut self,
        values: &mut Values,
        zero: TermId,
        (old, event): (EventId, Event),
        new: EventId,
    ) -> Option<()> {
        for demand in self.of_run.demands(old) {
            let term = self.adopt(values, zero, demand.term)?;
            values.demand(Demand { event: new, term, value: demand.value });
        }
        if event.op.access().is_some_and(|access| access.kind.writes())
            && let Some(term) = self.of_run.written(old)
        {
            let term = self.adopt(values, zero, term)?;
            values.set_written(new, term);
        }
        Some(())
    }

    /// The new number of a term of the run, which is copied with all its operands.
    fn adopt(&mut self, values: &mut Values, zero: TermId, term: TermId) -> Option<TermId> {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            let missing = |part: &TermId| self.number(*part).is_none();
            let parts: Vec<TermId> = self.of_run.term(next).parts().filter(missing).collect();
            if self.number(next).is_some() {
                open.pop();
            } else if parts.is_empty() {
                let moved = self.moved(self.of_run.term(next), zero, |part| self.number(part))?;
                self.numbers.insert(next, values.add(moved)?);
            } else {
                open.extend(parts);
            }
        }
        self.number(term)
    }

    fn number(&self, term: TermId) -> Option<TermId> {
        if term.index() < self.spliced.seed.base { Some(term) } else { self.numbers.get(&term).copied() }
    }

    /// A term from before the branch: all its operands are there.
    fn before(&self, term: Term) -> Term {
        match term {
            Term::Frozen { value, reads } => {
                let reads = self.spliced.set(reads, self.sets).unwrap_or(Reads::EVERYTHING);
                Term::Frozen { value, reads }
            }
            other => other,
        }
    }

    /// A term of the run, with these new numbers of its parts.
    fn moved(&self, term: Term, zero: TermId, number: impl Fn(TermId) -> Option<TermId>) -> Option<Term> {
        Some(match term {
            Term::Number(_) | Term::Name(_) => term,
            Term::Read(read) => match self.spliced.numbers.get(read.index()).copied().flatten() {
                Some(read) => Term::Read(read),
                None => without_value(zero),
            },
            Term::Frozen { value, reads } => match self.spliced.set(reads, self.sets) {
                Some(reads) => Term::Frozen { value, reads },
                None => without_value(zero),
            },
            Term::Unary { op, width, of } => Term::Unary { op, width, of: number(of)? },
            Term::Binary { op, width, left, right } => {
                Term::Binary { op, width, left: number(left)?, right: number(right)? }
            }
            Term::Choice { condition, then, otherwise } => Term::Choice {
                condition: number(condition)?,
                then: number(then)?,
                otherwise: number(otherwise)?,
            },
        })
    }

    /// A term of the way: its reads and parts have the numbers of the detour already.
    fn of_way(&self, term: Term, zero: TermId) -> Term {
        match term {
            Term::Frozen { value, reads } => match self.spliced.set(reads, self.sets) {
                Some(reads) => Term::Frozen { value, reads },
                None => without_value(zero),
            },
            other => other,
        }
    }
}

/// The threads that access each variable in the run.
pub(super) struct Users(FxHashMap<VarId, [Option<ThreadId>; 2]>, FxHashMap<VarId, [Option<ThreadId>; 2]>);

impl Users {
    /// For each variable two threads that access it, and two that write.
    pub(super) fn of(run: &Trace) -> Users {
        let mut users = Users(FxHashMap::default(), FxHashMap::default());
        for event in run.events() {
            let Some(access) = event.op.access() else { continue };
            enter(users.0.entry(access.var).or_default(), event.thread);
            if access.kind.writes() {
                enter(users.1.entry(access.var).or_default(), event.thread);
            }
        }
        users
    }

    /// Whether the untaken branch conflicts with an access of another thread.
    pub(super) fn notice(&self, seed: &UntakenPath) -> bool {
        seed.events.iter().filter_map(|event| event.op.access()).any(|access| {
            let users = if access.kind.writes() { &self.0 } else { &self.1 };
            let users = users.get(&access.var).copied().unwrap_or_default();
            users.into_iter().flatten().any(|user| user != seed.thread)
        })
    }
}

fn enter(users: &mut [Option<ThreadId>; 2], thread: ThreadId) {
    match users {
        [first @ None, _] => *first = Some(thread),
        [Some(first), second @ None] if *first != thread => *second = Some(thread),
        _ => {}
    }
}
