//! A schedule of a window as a problem for the solver.
//!
//! The solver sees booleans for "this event runs", "this read is pinned", "this read sees that write", and statements
//! about order. Most of what a schedule has to keep to is not stated in advance: a solution is made into a schedule,
//! the schedule is run, and only what goes wrong there becomes clauses. So every schedule that comes out has been run,
//! and the many constraints that no solution would violate anyway cost nothing.
//!
//! Events that do not run count as coming after all that do, in the order of the trace.

mod demands;
mod meetings;

use std::collections::BTreeMap;

use foretell_arithmetic::Solver;
use foretell_solve::{Lit, OrderSolver, ProofLog, SearchAnswer, SearchLimits};
use foretell_trace::{Model, Op, ops};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::certify::{self, Atom, Axiom, Meanings};
use crate::closure::{Closure, ENTRY, OUTSIDE};
use crate::greedy::{Care, GreedyPlan};
use crate::index::NONE;
use crate::kept::Kept;
use crate::replay::{Obstacle, Replay, Subjects};
use crate::values;
use crate::window::meetings::Role;
use crate::window::{BEFORE, BEYOND, Border, Domain, Window, WindowSection};

/// With so many choices of sources together a search is given up.
const MOST_SOURCES: usize = 500_000;
/// How many sources of a read the solver gets at first; it gets more when these do not suffice.
const FIRST_SOURCES: usize = 4;

/// How many steps of a schedule are run between two looks at the clock.
const STEPS_AT_ONCE: usize = 256;

/// The answer of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SearchOutcome {
    /// These events, in this order.
    Schedule(Vec<u32>),
    /// There is none.
    Impossible,
    GaveUp,
}

/// A search for a schedule of a window.
pub(crate) struct EncodedSearch<'w> {
    window: &'w Window<'w>,
    closure: &'w Closure<'w>,
    subjects: &'w Subjects,
    solver: OrderSolver,
    /// For each thread, which of its events have a boolean for "it runs".
    runs: Vec<BTreeMap<u32, Lit>>,
    reads: FxHashMap<u32, Read>,
    /// What reads may see whose values matter, whatever they saw.
    views: FxHashMap<u32, Read>,
    /// What has been stated.
    stated: FxHashSet<Statement>,
    sources: usize,
    /// The booleans for "this notification comes between this return from a wait and its wait".
    wakeups: FxHashMap<(u32, u32), Lit>,
    /// Solves arithmetic problems, and how many path constraints have not held so far.
    arithmetic: &'w dyn Solver,
    refuted: u64,
    /// Whether the last schedule violated anything, and whether that led to anything new.
    violated: bool,
    learnt: bool,
    /// Whether the first search has begun.
    begun: bool,
    /// What the solver's literals and clauses mean, if a certificate is wanted.
    meanings: Option<Box<Meanings>>,
}

/// A read that may have to see one of some writes.
struct Read {
    /// The boolean for "it has to".
    bound: Lit,
    /// What it may see, each with the boolean for that.
    sources: Vec<(u32, Lit)>,
    /// What else it may see, the likeliest last.
    others: Vec<u32>,
    /// The boolean for "it sees one of the others".
    sees_other: Lit,
}

/// Something that goes wrong in a schedule and need be stated only once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Statement {
    Between { read: u32, source: u32, write: u32 },
    Exclusion(u32, u32),
    Attempt(u32),
    Deviated { source: Lit, read: u32 },
    Pinned { read: u32 },
    Free { access: u32 },
    Twins { other: u32 },
}

impl<'w> EncodedSearch<'w> {
    pub(crate) fn new(
        closure: &'w Closure<'w>,
        subjects: &'w Subjects,
        arithmetic: &'w dyn Solver,
    ) -> EncodedSearch<'w> {
        let window = closure.window;
        let mut solver = OrderSolver::new(&window.thread);
        for edge in closure.edges() {
            solver.fact(edge.from, edge.to);
        }
        let mut search = EncodedSearch {
            window,
            closure,
            subjects,
            solver,
            runs: vec![BTreeMap::new(); window.threads.len()],
            reads: FxHashMap::default(),
            views: FxHashMap::default(),
            stated: FxHashSet::default(),
            sources: 0,
            wakeups: FxHashMap::default(),
            arithmetic,
            refuted: 0,
            violated: false,
            learnt: false,
            begun: false,
            meanings: None,
        };
        for event in 0..window.len() {
            if !closure.runs(event) {
                window.needs(event).iter().for_each(|&need| search.solver.fact(need, event));
            }
        }
        search
    }

    /// From here on keeps a proof; to be called before [`EncodedSearch::run`].
    pub(crate) fn log_proof(&mut self) {
        self.meanings.get_or_insert_default();
        self.solver.log_proof();
    }

    /// What proves that there is no schedule, if that was asked for and found.
    pub(crate) fn proof(&self) -> Option<(&ProofLog, &Meanings)> {
        self.solver.proof().zip(self.meanings.as_deref())
    }

    /// The events that the literal puts in order, if it is about that.
    pub(crate) fn ordered(&self, literal: Lit) -> Option<(u32, u32)> {
        self.solver.ordered(literal)
    }

    /// States a clause, which holds because of this axiom.
    fn state(&mut self, clause: &[Lit], axiom: impl FnOnce() -> Axiom) {
        if let Some(meanings) = &mut self.meanings {
            meanings.state(certify::Statement::Axiom(axiom()));
        }
        self.solver.clause(clause);
    }

    /// A new boolean that means this.
    fn boolean(&mut self, preferred: bool, meaning: Atom) -> Lit {
        let literal = self.solver.boolean(preferred);
        if let Some(meanings) = &mut self.meanings {
            meanings.name(literal, meaning);
        }
        literal
    }

    pub(crate) fn run(&mut self, limits: &SearchLimits<'_>) -> SearchOutcome {
        if !std::mem::replace(&mut self.begun, true) {
            self.state_notifications();
        }
        for round in 1u64.. {
            match self.solver.solve(limits) {
                SearchAnswer::Sat => {}
                SearchAnswer::Unsat => return SearchOutcome::Impossible,
                SearchAnswer::GaveUp => return SearchOutcome::GaveUp,
            }
            if self.closure.is_out_of_time() {
                return SearchOutcome::GaveUp;
            }
            let plan = self.plan();
            // A careful schedule may make up for what the solver does not know yet; the more often it could not,
            // the less likely it will.
            if round.is_power_of_two()
                && let Some(schedule) = plan.schedule(Care::Strict)
                && values::demands_hold(self.window, &schedule)
            {
                return SearchOutcome::Schedule(schedule);
            }
            // What the solver says is free of cycles, so there is always a schedule that keeps to the order.
            let Some(schedule) = plan.schedule(Care::Blind) else { return SearchOutcome::GaveUp };
            let kept = plan.kept;
            self.learn_from(&schedule, &kept);
            if !self.violated && !self.closure.is_out_of_time() {
                return SearchOutcome::Schedule(schedule);
            }
            if !self.learnt || self.sources > MOST_SOURCES {
                return SearchOutcome::GaveUp;
            }
        }
        SearchOutcome::GaveUp
    }

    /// What the solver's answer means for a schedule.
    fn plan(&self) -> GreedyPlan<'w> {
        let mut running = self.closure.running.clone();
        for (running, known) in running.iter_mut().zip(&self.runs) {
            let last = known.iter().rev().find(|(_, literal)| self.solver.value(**literal));
            *running = last.map_or(*running, |(place, _)| (*running).max(place + 1));
        }
        let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (from, to) in self.solver.edges() {
            before.entry(to).or_default().push(from);
        }
        GreedyPlan::new(self.closure, self.subjects, running, before)
    }

    fn learn_from(&mut self, schedule: &[u32], kept: &Kept) {
        (self.violated, self.learnt) = (false, false);
        self.learn_demands(schedule);
        let mut replay = Replay::new(self.window, self.subjects);
        let mut freed = FxHashSet::default();
        for (position, &event) in schedule.iter().enumerate() {
            if position % STEPS_AT_ONCE == 0 && self.closure.is_out_of_time() {
                return;
            }
            if let Some(obstacle) = replay.obstacle(event) {
                self.learn_obstacle(obstacle, event, &schedule[..position]);
            }
            if let Some(access) = self.window.op(event).access() {
                if access.kind.reads() && !replay.is_as_observed(event) {
                    self.learn_read(event, &replay, kept);
                }
                self.learn_free(event, &mut freed);
            }
            replay.step(event);
        }
    }

    /// States something that the schedule violated, unless that was done before.
    fn is_news(&mut self, statement: Statement) -> bool {
        self.violated = true;
        let news = self.stated.insert(statement);
        self.learnt |= news;
        news
    }

    fn learn_obstacle(&mut self, obstacle: Obstacle, event: u32, earlier: &[u32]) {
        match obstacle {
            Obstacle::Held { holder, section } => self.state_exclusion(holder, section),
            Obstacle::NotHeld(_) | Obstacle::NoPermit(_) if self.window.border == Border::Open => {}
            Obstacle::NotHeld(attempt) => self.state_attempt(attempt),
            Obstacle::NoPermit(sem) => self.state_permits(sem, event, earlier),
            Obstacle::InVain(Role::Return(number)) => self.state_wakeups(number, event, earlier),
            Obstacle::InVain(Role::Depart(number)) => self.state_arrivals(number, event, earlier),
            Obstacle::InVain(_) => {}
        }
    }

    /// A read that did not see what it saw: either it need not, or something has to change.
    fn learn_read(&mut self, read: u32, replay: &Replay<'_>, kept: &Kept) {
        let known = self.reads.get(&read).filter(|known| self.solver.value(known.bound));
        let chosen = known
            .and_then(|known| known.sources.iter().find(|(_, literal)| self.solver.value(*literal)).copied());
        match chosen {
            None if known.is_some_and(|known| self.solver.value(known.sees_other)) => {
                (self.violated, self.learnt) = (true, true);
                let count = known.map_or(0, |known| 2 * known.sources.len());
                self.add_sources(read, count);
            }
            Some((source, literal)) if replay.writer(read) == source => {
                let deviated = replay.foreign(read);
                if self.is_news(Statement::Deviated { source: literal, read: deviated }) {
                    let pinned = self.pinned(deviated);
                    let axiom = || Axiom::Concrete { read, write: source, other: deviated };
                    self.state(&[!literal, pinned], axiom);
                }
            }
            Some((source, literal)) => self.state_between(read, source, literal, replay.writer(read)),
            None => {
                if kept.contains(read, self.window) && self.is_news(Statement::Pinned { read }) {
                    self.state_pinned(read);
                }
            }
        }
    }

    /// Memory is given back only once; `freed` are the events that have done so.
    fn learn_free(&mut self, access: u32, freed: &mut FxHashSet<u32>) {
        let free = self.window.variable(access).map_or(NONE, |variable| variable.free);
        if free == access {
            freed.insert(free);
        } else if freed.contains(&free) && self.is_news(Statement::Free { access }) {
            let clause = [!self.runs(access), !self.runs(free), self.before(access, free)];
            self.state(&clause, || Axiom::Free { access, free });
        }
    }

    /// The boolean for "this event runs".
    fn runs(&mut self, event: u32) -> Lit {
        let window = self.window;
        let (thread, place) = (window.thread[event as usize] as usize, window.place[event as usize]);
        if place < self.closure.running[thread] {
            return Lit::TRUE;
        }
        if place >= window.limit[thread] {
            return Lit::FALSE;
        }
        if let Some(&known) = self.runs[thread].get(&place) {
            return known;
        }
        let literal = self.boolean(false, Atom::Runs(event));
        let earlier = self.runs[thread].range(..place).next_back().map(|(&place, &literal)| (place, literal));
        let later = self.runs[thread].range(place..).next().map(|(&place, &literal)| (place, literal));
        self.runs[thread].insert(place, literal);
        if let Some((place, earlier)) = earlier {
            self.state(&[!literal, earlier], || {
                Axiom::Prefix(window.at(window.thread[event as usize], place), event)
            });
        }
        if let Some((place, later)) = later {
            self.state(&[!later, literal], || {
                Axiom::Prefix(event, window.at(window.thread[event as usize], place))
            });
        }
        let from = earlier.map_or(self.closure.running[thread], |(place, _)| place + 1);
        for place in from..=place {
            for &need in window.needs(window.threads[thread][place as usize]) {
                let runs = self.runs(need);
                self.state(&[!literal, runs], || Axiom::Prefix(need, event));
            }
        }
        literal
    }

    fn before(&mut self, from: u32, to: u32) -> Lit {
        let (from, to) = self.window.as_twins(from, to);
        if let Some(twins @ [first, second]) = self.window.twins
            && let [Some(other), None] | [None, Some(other)] =
                [from, to].map(|event| Some(event).filter(|event| !twins.contains(event)))
            && self.stated.insert(Statement::Twins { other })
        {
            // What does not come before both comes after both.
            let clause = [self.solver.before(other, first), self.solver.before(second, other)];
            self.solver.clause(&clause);
        }
        self.solver.before(from, to)
    }

    /// The statement that `from` comes before `to`, which implies that it runs if `to` does.
    fn runs_before(&mut self, from: u32, to: u32) -> Lit {
        let order = self.before(from, to);
        let (from_runs, to_runs) = (self.runs(from), self.runs(to));
        self.state(&[!order, !to_runs, from_runs], || Axiom::Prefix(from, to));
        order
    }

    /// The boolean for "this read sees what it saw".
    fn pinned(&mut self, read: u32) -> Lit {
        if let Some(known) = self.reads.get(&read) {
            return known.bound;
        }
        if self.window.domain(read) == Domain::Free || self.closure.sources(read, 1) == [OUTSIDE] {
            return Lit::TRUE;
        }
        let pinned = self.boolean(false, Atom::Consistent(read));
        let mut others = match self.closure.source(read) {
            Some(source) => vec![source],
            None => self.closure.sources(read, usize::MAX),
        };
        others.reverse();
        self.reads.insert(read, Read { bound: pinned, sources: Vec::new(), others, sees_other: pinned });
        // A certificate has no word for "one of the others".
        self.add_sources(read, if self.meanings.is_some() { usize::MAX } else { FIRST_SOURCES });
        pinned
    }

    /// Tells the solver of further writes that a read may see.
    fn add_sources(&mut self, read: u32, count: usize) {
        if let Some(mut known) = self.reads.remove(&read) {
            self.widen(read, &mut known, count);
            self.reads.insert(read, known);
        }
    }

    fn widen(&mut self, read: u32, known: &mut Read, count: usize) {
        let sources = known.others.split_off(known.others.len().saturating_sub(count));
        let mut clause = vec![!known.sees_other];
        known.sees_other = if known.others.is_empty() { Lit::FALSE } else { self.solver.boolean(false) };
        clause.push(known.sees_other);
        self.sources += sources.len();
        for source in sources.into_iter().rev() {
            let is_first = clause.len() == 2;
            let sees = self.boolean(is_first, Atom::Sees(read, source));
            if source != ENTRY {
                let order = self.before(source, read);
                let runs = self.runs(source);
                self.state(&[!sees, order], || Axiom::Sees { read, write: source });
                self.state(&[!sees, runs], || Axiom::SourceRuns { read, write: source });
            }
            clause.push(sees);
            known.sources.push((source, sees));
        }
        let closure = self.closure;
        let sources: Vec<u32> = known.sources.iter().map(|&(source, _)| source).collect();
        self.state(&clause, || closure.choice(read, &sources));
    }

    /// No write comes between a source and its read.
    fn state_between(&mut self, read: u32, source: u32, literal: Lit, write: u32) {
        if self.is_news(Statement::Between { read, source, write }) && write != ENTRY {
            let mut clause = vec![!literal, self.before(read, write)];
            if source != ENTRY {
                clause.push(self.before(write, source));
            }
            self.state(&clause, || Axiom::Between { read, write: source, other: write });
        }
    }

    /// Why a read is pinned.
    fn state_pinned(&mut self, read: u32) {
        let window = self.window;
        let events = &window.threads[window.thread[read as usize] as usize];
        let place = window.place[read as usize] as usize;
        let after = &events[place + 1..];
        let by = match window.model {
            _ if window.twins.is_some() => Pinning::Always,
            Model::SameWrite => Pinning::By(read),
            Model::SameValue => Pinning::by(after.first(), window),
            Model::ControlFlow => match after.iter().find(|&&event| window.op(event) == Op::Branch) {
                Some(&branch) => Pinning::By(branch),
                None => Pinning::Never,
            },
            Model::Necessary | Model::Values => Pinning::by(window.steered_by(read).as_ref(), window),
        };
        let fence = window.fences.iter().find(|&&fence| fence > read).copied();
        let known = self.closure.kept.contains(read, window);
        let pinned = self.pinned(read);
        if known {
            if let Some(meanings) = &mut self.meanings {
                meanings.state(certify::Statement::Known(Atom::Consistent(read).into()));
            }
            self.solver.clause(&[pinned]);
        }
        match by {
            Pinning::Always => self.state(&[pinned], || Axiom::Pinned(read)),
            Pinning::By(event) => self.state_pinned_by(event, read, pinned),
            Pinning::Never => {}
        }
        if let Some(fence) = fence {
            self.state_pinned_by(fence, read, pinned);
        }
    }

    /// If the event runs, the read is pinned.
    fn state_pinned_by(&mut self, event: u32, read: u32, pinned: Lit) {
        let runs = self.runs(event);
        self.state(&[!runs, pinned], || Axiom::Pin { event, read });
    }

    fn state_exclusion(&mut self, one: u32, other: u32) {
        if !self.is_news(Statement::Exclusion(one.min(other), one.max(other))) {
            return;
        }
        let sections = &self.window.sections;
        let (one, other) = (sections[one as usize], sections[other as usize]);
        if one.end == BEYOND || other.end == BEYOND {
            return;
        }
        let mut clause = Vec::with_capacity(4);
        for (first, second) in [(one, other), (other, one)] {
            if first.begin != BEFORE {
                clause.push(!self.runs(first.begin));
            }
            clause.extend(self.ends_before(first, second));
        }
        self.state(&clause, || Axiom::Exclusion(one.acquire, other.acquire));
    }

    /// The statement that the first section has ended when the second begins.
    fn ends_before(&mut self, first: WindowSection, second: WindowSection) -> Option<Lit> {
        (first.ends() && second.begin != BEFORE).then(|| self.runs_before(first.end, second.begin))
    }

    /// Some thread holds the lock when an attempt to take it fails.
    fn state_attempt(&mut self, number: u32) {
        if !self.is_news(Statement::Attempt(number)) {
            return;
        }
        let window = self.window;
        let attempt = window.attempts[number as usize];
        let mut clause = vec![!self.runs(attempt.event)];
        let sections = window.locks[attempt.lock as usize].sections.iter();
        for &number in sections.filter(|of| attempt.mode.excludes(of.1)).flat_map(|of| &of.2) {
            let section = window.sections[number as usize];
            let (attempt, begin) = (attempt.event, section.acquire);
            let holds = self.boolean(false, Atom::Finds(attempt, begin));
            if section.begin != BEFORE {
                let begins = self.runs_before(section.begin, attempt);
                self.state(&[!holds, begins], || Axiom::HasBegun { attempt, begin });
            }
            if section.ends() {
                let ends = self.before(attempt, section.end);
                self.state(&[!holds, ends], || Axiom::IsOpen { attempt, begin });
            }
            clause.push(holds);
        }
        self.state(&clause, || Axiom::Attempt(attempt.event));
    }

    /// A wait found no permit: one of the waits before it comes later, or a post that came later comes before.
    fn state_permits(&mut self, sem: u32, wait: u32, earlier: &[u32]) {
        let window = self.window;
        (self.violated, self.learnt) = (true, true);
        let mut clause = vec![!self.runs(wait)];
        let before: FxHashSet<u32> = earlier.iter().copied().collect();
        let (mut waits, mut posts) = (Vec::new(), Vec::new());
        for &op in &window.semaphores[sem as usize].ops {
            match window.op(op) {
                Op::SemWait(_) if op != wait && before.contains(&op) => {
                    clause.push(self.before(wait, op));
                    waits.push(op);
                }
                Op::SemPost(_) if !before.contains(&op) => {
                    clause.push(self.runs_before(op, wait));
                    posts.push(op);
                }
                ops!(memory | locks | control | semaphores | conditions | barriers | labels) => {}
            }
        }
        self.state(&clause, || Axiom::Permits { wait, waits: waits.into(), posts: posts.into() });
    }

    /// The only notification that can wake a thread comes after the wait.
    fn state_notifications(&mut self) {
        for (&woken, &notification) in &self.window.notifications {
            if let Some(wait) = self.window.before(woken) {
                let clause = [!self.runs(woken), self.before(wait, notification)];
                self.state(&clause, || Axiom::Notified(woken));
            }
        }
    }
}

/// When a read is pinned.
#[derive(Clone, Copy)]
enum Pinning {
    /// The goal asks for it.
    Always,
    /// If this event runs.
    By(u32),
    Never,
}

impl Pinning {
    /// Pinned for the sake of this event.
    fn by(event: Option<&u32>, window: &Window<'_>) -> Pinning {
        match event {
            Some(event) if window.next.contains(event) => Pinning::Always,
            Some(&event) => Pinning::By(event),
            None => Pinning::Never,
        }
    }
}
