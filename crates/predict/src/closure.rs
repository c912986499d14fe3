//! What every schedule of a window must do: which events run, in which order, and which write a read sees.
//!
//! Starting from the events before those of the goal, rules add what follows until nothing new comes, or until two
//! facts contradict each other; then no schedule exists. Facts of the form "this event is before that one" are kept
//! as vector clocks over the events that must run: `known(e)[t]` says how many events of thread `t` are before `e`.
//! Such a clock grows along edges only, so a new edge costs as much as it teaches.
//!
//! The rules, for a read `r` that must see the write `c`, and another write `w` of the same variable:
//! * `c` runs, before `r`, and its thread saw what it saw up to `c`, or at least where that matters to what `c` writes;
//! * `w` before `r` implies `w` before `c`; `c` before `w` implies `r` before `w`;
//! * of several writes that `r` may see, those that are after `r` or overwritten before `r` drop out; what is before
//!   all that are left is before `r`, and a write that all of these are before comes after `r`;
//!
//! and for two sections of one lock that exclude each other:
//! * if one begins before an event of the other runs, it has ended before the other begins;
//! * one that cannot end comes last.
//!
//! These are the rules of M2 (Pavlogiannis, POPL 2020) as ReconP gives them, extended to reads with a choice of writes
//! and to prefixes that grow. What semaphores and failed attempts to lock imply is left to the solver.

mod observe;
mod sources;
mod spans;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::certify::{Axiom, Clash, Derivation, Literal, PinCause};
use crate::index::NONE;
use crate::kept::{Demand, Kept};
use crate::window::{BEFORE, BEYOND, NEVER, Window, WindowSection};

/// The source of a read that is not known yet.
const OPEN: u32 = NONE - 1;
/// What was there before the window, as the source of a read.
pub(crate) const ENTRY: u32 = NONE - 2;
/// An event outside of an open window, as the source of a read.
pub(crate) const OUTSIDE: u32 = NONE - 3;

/// Facts about all schedules of a window.
#[derive(Clone, Debug)]
pub(crate) struct Closure<'w> {
    pub(crate) window: &'w Window<'w>,
    patience: Patience<'w>,
    steps: u32,
    /// How many events of each thread must run.
    pub(crate) running: Vec<u32>,
    /// The events that must have seen what they saw.
    pub(crate) kept: Kept,
    /// For each event that must run, how many events of each thread are before it.
    known: Vec<u32>,
    /// For each event, the source that a read must have; [`OPEN`] if there is a choice, [`NONE`] if it need not have
    /// any.
    source: Vec<u32>,
    /// The reads that must see a write, as lists: the first for each event, then the next for each read.
    first_reader: Vec<u32>,
    next_reader: Vec<u32>,
    /// For each variable, the reads that must see what was there before the window.
    entry_readers: Vec<Vec<u32>>,
    /// The reads that have a choice.
    undetermined: Vec<u32>,
    edges: Vec<Edge>,
    /// For each event, the last edge that leaves it.
    last_edge: Vec<u32>,
    /// For each thread, how many of its sections have begun.
    begun: Vec<usize>,
    /// For each thread, the sections that have begun and not ended.
    open: Vec<Vec<u32>>,
    /// For each lock, the sections that have begun and cannot end.
    endless: Vec<Vec<u32>>,
    tasks: VecDeque<Task>,
    /// Events whose clocks have grown since the rules were applied to them.
    grown: VecDeque<u32>,
    /// For each event, in which threads its clock has grown, one bit for every 64th thread.
    growth: Vec<u64>,
    /// What was found and why, if a certificate is wanted.
    pub(crate) derivation: Option<Box<Derivation>>,
}

/// Why one event is before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Forks, joins, barriers, allocation: in every schedule.
    Must,
    /// The later one sees what the earlier one wrote, and must because of this event, if it is not just that it comes
    /// before something that runs.
    Seen(Option<u32>),
    /// This read must not see the earlier one.
    Between(u32),
    /// The later one would overwrite what the earlier one must see.
    Overwrites,
    /// Whatever this read sees comes after the earlier one.
    AnySource,
    /// The later one would overwrite whatever the earlier one may see.
    OverwritesAny,
    /// Two sections exclude each other, and this event of the later one cannot come first.
    WindowSection(u32),
    /// The section of the later one cannot end.
    Endless,
    /// The notification must come after the wait.
    Notification,
    /// The memory is in use before it is given back.
    Free,
    /// The goal asks for it.
    Goal,
    /// Nothing forces it; it was tried.
    Tried,
}

/// One event is before another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) why: Why,
    /// The edge that left `from` before this one.
    previous: u32,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    Order {
        from: u32,
        to: u32,
        why: Why,
    },
    /// These reads must have seen what they saw, for this reason.
    Keep(Demand, PinCause),
    /// The read's source has become known.
    Observe {
        read: u32,
    },
}

/// Why there is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Contradiction {
    /// Each of these events comes before the next, and the last before the first.
    Cycle(Vec<(u32, Why)>),
    /// The read cannot see what it must see, if need be because of this event.
    NoSource(u32, Option<u32>),
    /// The event must run, but comes after the goal is reached.
    TooLate { event: u32, before: u32, why: Why },
    /// Two sections exclude each other, and none of them can end.
    Sections(u32, u32),
    /// None was found in time; there may be a schedule.
    OutOfTime,
}

/// When to give up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Patience<'a> {
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: Option<&'a AtomicBool>,
}

impl Patience<'_> {
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// How many steps a closure takes between two looks at the clock.
const STEPS_AT_ONCE: u32 = 4096;

impl<'w> Closure<'w> {
    /// Nothing is known yet.
    pub(crate) fn new(window: &'w Window<'w>, patience: Patience<'w>) -> Closure<'w> {
        let (events, threads) = (window.len() as usize, window.threads.len());
        Closure {
            window,
            patience,
            steps: 0,
            running: vec![0; threads],
            kept: Kept::new(threads),
            known: vec![0; events * threads],
            source: vec![NONE; events],
            first_reader: vec![NONE; events],
            next_reader: vec![NONE; events],
            entry_readers: vec![Vec::new(); window.vars.len()],
            undetermined: Vec::new(),
            edges: Vec::new(),
            last_edge: vec![NONE; events],
            begun: vec![0; threads],
            open: vec![Vec::new(); threads],
            endless: vec![Vec::new(); window.locks.len()],
            tasks: VecDeque::new(),
            grown: VecDeque::new(),
            growth: vec![0; events],
            derivation: None,
        }
    }

    /// All that follows from the goal of the window.
    pub(crate) fn of_goal(
        window: &'w Window<'w>,
        patience: Patience<'w>,
    ) -> Result<Closure<'w>, Contradiction> {
        let mut closure = Closure::new(window, patience);
        closure.reach_goal()?;
        Ok(closure)
    }

    /// Finds all that follows from the goal of the window.
    pub(crate) fn reach_goal(&mut self) -> Result<(), Contradiction> {
        let window = self.window;
        if let Some([first, second]) = window.twins {
            self.run_everything()?;
            self.order(first, second, Why::Tried)?;
            return self.close();
        }
        for &event in &window.next {
            if let Some(before) = window.before(event) {
                self.log(Literal::runs(before), || Axiom::Reached(before));
                self.must_run(before)?;
            }
            for &need in window.needs(event) {
                self.log(Literal::runs(need), || Axiom::Reached(need));
                self.must_run_for(need, event, Why::Must)?;
            }
        }
        for &event in &window.ran {
            self.log(Literal::runs(event), || Axiom::Reached(event));
            self.must_run(event)?;
        }
        for &(from, to) in &window.ordered {
            self.order(from, to, Why::Goal)?;
        }
        self.pin_goal()?;
        self.close()
    }

    /// The reads that matter to the events that come next are pinned.
    pub(crate) fn pin_goal(&mut self) -> Result<(), Contradiction> {
        for &event in &self.window.next {
            let tasks = &mut self.tasks;
            self.window.to_come_next(event, |demand| tasks.push_back(Task::Keep(demand, PinCause::Goal)));
            // With that, the acquire of a spin lock may be pinned that nothing else has pinned yet. A section whose
            // acquire is outside of the window stands here for it with its first event, which does not run.
            self.begin_sections_while(event, |section| section.acquire != event)?;
        }
        Ok(())
    }

    /// All events that may run must run.
    pub(crate) fn run_everything(&mut self) -> Result<(), Contradiction> {
        let window = self.window;
        for (events, &limit) in window.threads.iter().zip(&window.limit) {
            if let Some(&last) = events[..limit as usize].last() {
                self.must_run(last)?;
            }
        }
        if let Some([first, second]) = window.twins {
            // The order of threads does not know that the two are one.
            for before in window.before(second).into_iter().filter(|&before| before != first) {
                self.tasks.push_back(Task::Order { from: before, to: first, why: Why::Must });
            }
            let next = window.place[first as usize] + 1;
            if let Some(&next) = window.threads[window.thread[first as usize] as usize].get(next as usize) {
                self.tasks.push_back(Task::Order { from: second, to: next, why: Why::Must });
            }
        }
        Ok(())
    }

    /// Applies the rules until nothing new comes.
    pub(crate) fn close(&mut self) -> Result<(), Contradiction> {
        loop {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(STEPS_AT_ONCE) && self.patience.is_over() {
                return Err(Contradiction::OutOfTime);
            }
            if let Some(task) = self.tasks.pop_front() {
                self.perform(task)?;
            } else if let Some(event) = self.grown.pop_front() {
                self.apply_rules(event);
            } else if !self.narrow_choices()? {
                return Ok(());
            }
        }
    }

    /// The event must run.
    pub(crate) fn must_run(&mut self, event: u32) -> Result<(), Contradiction> {
        self.must_run_for(event, event, Why::Must)
    }

    /// Nothing forces `from` to be before `to`, but let it be so.
    pub(crate) fn assume(&mut self, from: u32, to: u32) -> Result<(), Contradiction> {
        self.tasks.push_back(Task::Order { from, to, why: Why::Tried });
        self.close()
    }

    /// Whether it is time to give up.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.patience.is_over()
    }

    /// Whether the event must run.
    pub(crate) fn runs(&self, event: u32) -> bool {
        self.window.place[event as usize] < self.running[self.window.thread[event as usize] as usize]
    }

    /// How many events of each thread are before the event, which must run.
    pub(crate) fn known(&self, event: u32) -> &[u32] {
        let width = self.running.len();
        &self.known[event as usize * width..(event as usize + 1) * width]
    }

    /// Whether `from` is known to be before `to`; both must run.
    pub(crate) fn is_before(&self, from: u32, to: u32) -> bool {
        let thread = self.window.thread[from as usize] as usize;
        self.known[to as usize * self.running.len() + thread] > self.window.place[from as usize]
    }

    /// The edges besides the order of each thread.
    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    fn perform(&mut self, task: Task) -> Result<(), Contradiction> {
        match task {
            Task::Order { from, to, why } => self.order(from, to, why),
            Task::Keep(demand, cause) => self.keep(demand, cause),
            Task::Observe { read } => {
                self.observe(read);
                Ok(())
            }
        }
    }

    fn must_run_for(&mut self, event: u32, before: u32, why: Why) -> Result<(), Contradiction> {
        let thread = self.window.thread[event as usize] as usize;
        if self.window.place[event as usize] >= self.window.limit[thread] {
            self.log_clash(|| Clash::TooLate(event));
            return Err(Contradiction::TooLate { event, before, why });
        }
        while !self.runs(event) {
            let next = self.window.threads[thread][self.running[thread] as usize];
            self.log(Literal::runs(next), || Axiom::Prefix(next, event));
            self.running[thread] += 1;
            self.enter(next)?;
        }
        Ok(())
    }

    /// An event joins those that must run.
    fn enter(&mut self, event: u32) -> Result<(), Contradiction> {
        let window = self.window;
        let width = self.running.len();
        let (thread, place) = (window.thread[event as usize], window.place[event as usize]);
        if let Some(before) = window.before(event) {
            self.known
                .copy_within(before as usize * width..(before as usize + 1) * width, event as usize * width);
        }
        self.known[event as usize * width + thread as usize] = place;
        self.note_growth(event, u64::MAX);
        for &need in window.needs(event) {
            self.tasks.push_back(Task::Order { from: need, to: event, why: Why::Must });
        }
        let cause = PinCause::Runs(event);
        window.to_run(event, |demand| self.tasks.push_back(Task::Keep(demand, cause)));
        self.enter_access(event);
        self.begin_sections_at(event)?;
        if let Some(section) = window.section_ending(event) {
            self.open[thread as usize].retain(|&open| open != section);
        }
        if let Some(&notification) = window.notifications.get(&event)
            && let Some(wait) = window.before(event)
        {
            self.tasks.push_back(Task::Order { from: wait, to: notification, why: Why::Notification });
        }
        Ok(())
    }

    fn enter_access(&mut self, event: u32) {
        let window = self.window;
        let Some(variable) = window.variable(event) else { return };
        if window.changes_memory(event) {
            for &read in &self.entry_readers[window.var[event as usize] as usize] {
                self.tasks.push_back(Task::Order { from: read, to: event, why: Why::Overwrites });
            }
        }
        if variable.free == event {
            for &access in &variable.accesses {
                if access != event && self.runs(access) {
                    self.tasks.push_back(Task::Order { from: access, to: event, why: Why::Free });
                }
            }
        } else if variable.free != NONE && self.runs(variable.free) {
            self.tasks.push_back(Task::Order { from: event, to: variable.free, why: Why::Free });
        }
    }

    /// The sections begin that do so at this event, and those that began before the window.
    fn begin_sections_at(&mut self, event: u32) -> Result<(), Contradiction> {
        self.begin_sections_while(event, |_| true)
    }

    /// The same, up to the first one that is not wanted.
    fn begin_sections_while(
        &mut self,
        event: u32,
        is_wanted: impl Fn(&WindowSection) -> bool,
    ) -> Result<(), Contradiction> {
        let window = self.window;
        let thread = window.thread[event as usize] as usize;
        while let Some(&section) = window.sections_of[thread].get(self.begun[thread])
            && [BEFORE, event].contains(&window.sections[section as usize].begin)
            && is_wanted(&window.sections[section as usize])
        {
            self.begun[thread] += 1;
            self.begin_section(section)?;
        }
        Ok(())
    }

    fn begin_section(&mut self, number: u32) -> Result<(), Contradiction> {
        let window = self.window;
        let section = &window.sections[number as usize];
        self.open[section.thread as usize].push(number);
        if section.begin == BEFORE {
            return Ok(());
        }
        for &held in &window.locks[section.lock as usize].held {
            self.end_before(held, number)?;
        }
        if section.end == NEVER {
            for (_, _, others) in &window.locks[section.lock as usize].sections {
                let begun = others.partition_point(|&other| self.has_begun(&window.sections[other as usize]));
                if let Some(&last) =
                    others[..begun].iter().rev().find(|&&o| window.sections[o as usize].end != BEYOND)
                {
                    self.end_before(last, number)?;
                }
            }
        }
        for other in 0..self.endless[section.lock as usize].len() {
            let endless = self.endless[section.lock as usize][other];
            self.end_before(number, endless)?;
        }
        if section.end == NEVER {
            self.endless[section.lock as usize].push(number);
        }
        Ok(())
    }

    fn has_begun(&self, section: &WindowSection) -> bool {
        section.begin == BEFORE || self.runs(section.begin)
    }

    /// If the two sections exclude each other, the first has ended before the second begins.
    fn end_before(&mut self, first: u32, second: u32) -> Result<(), Contradiction> {
        let sections = &self.window.sections;
        let (one, other) = (&sections[first as usize], &sections[second as usize]);
        if !one.excludes(other) || one.end == BEYOND {
            return Ok(());
        }
        if !one.ends() {
            let acquires = (one.acquire, other.acquire);
            self.log_clash(|| Clash::Broken(Axiom::Exclusion(acquires.0, acquires.1)));
            return Err(Contradiction::Sections(first, second));
        }
        let why = if one.begin == BEFORE { Why::WindowSection(other.begin) } else { Why::Endless };
        self.tasks.push_back(Task::Order { from: one.end, to: other.acquire, why });
        Ok(())
    }

    fn order(&mut self, from: u32, to: u32, why: Why) -> Result<(), Contradiction> {
        let (from, to) = self.window.as_twins(from, to);
        self.log_order(from, to, why);
        self.must_run_for(to, to, why)?;
        self.must_run_for(from, to, why)?;
        if from == to || self.is_before(to, from) {
            self.log_clash(|| Clash::Cycle(from, to));
            return Err(Contradiction::Cycle(self.cycle(from, to, why)));
        }
        if self.is_before(from, to) {
            return Ok(());
        }
        // There are fewer edges than memory has room for.
        let number = u32::try_from(self.edges.len()).unwrap_or(NONE);
        self.edges.push(Edge { from, to, why, previous: self.last_edge[from as usize] });
        self.last_edge[from as usize] = number;
        self.log_edge(from, to);
        self.teach(from, to);
        Ok(())
    }

    /// What is known of `from` is known of `to` and of all that come after it.
    fn teach(&mut self, from: u32, to: u32) {
        let mut lessons = vec![(from, to)];
        while let Some((from, to)) = lessons.pop() {
            if self.learn(from, to) {
                lessons.extend(self.after(to).map(|next| (to, next)));
            }
        }
    }

    /// The events to which an edge leads, the next of the thread among them.
    fn after(&self, event: u32) -> impl Iterator<Item = u32> {
        let thread = self.window.thread[event as usize];
        let place = self.window.place[event as usize] + 1;
        let next = (place < self.running[thread as usize]).then(|| self.window.at(thread, place));
        next.into_iter().chain(self.leaving(event).map(|edge| edge.to))
    }

    fn leaving(&self, event: u32) -> impl Iterator<Item = Edge> {
        let mut next = self.last_edge[event as usize];
        std::iter::from_fn(move || {
            let edge = *self.edges.get(next as usize)?;
            next = edge.previous;
            Some(edge)
        })
    }

    /// Whether the clock of `to` grows by that of `from` and by `from` itself.
    fn learn(&mut self, from: u32, to: u32) -> bool {
        let width = self.running.len();
        let (a, b) = (from as usize * width, to as usize * width);
        let (source, target) = if a < b {
            let (low, high) = self.known.split_at_mut(b);
            (&low[a..a + width], &mut high[..width])
        } else {
            let (low, high) = self.known.split_at_mut(a);
            (&high[..width], &mut low[b..b + width])
        };
        let mut growth = 0u64;
        for (thread, (target, &source)) in target.iter_mut().zip(source).enumerate() {
            if source > *target {
                *target = source;
                growth |= bit(thread);
            }
        }
        let (thread, place) = (self.window.thread[from as usize] as usize, self.window.place[from as usize]);
        if target[thread] <= place {
            target[thread] = place + 1;
            growth |= bit(thread);
        }
        if growth != 0 {
            self.note_growth(to, growth);
        }
        growth != 0
    }

    fn note_growth(&mut self, event: u32, growth: u64) {
        if self.growth[event as usize] == 0 {
            self.grown.push_back(event);
        }
        self.growth[event as usize] |= growth;
    }

    /// Applies the rules to an event whose clock has grown.
    fn apply_rules(&mut self, event: u32) {
        let growth = std::mem::take(&mut self.growth[event as usize]);
        if self.source[event as usize] < OPEN {
            self.keep_others_away(event, growth);
        }
        if self.window.changes_memory(event) {
            self.read_before_overwritten(event, growth);
        }
        if let Some(section) = self.window.section_ending(event) {
            self.exclude(section, event, growth);
        }
        let thread = self.window.thread[event as usize] as usize;
        if self.window.place[event as usize] + 1 == self.running[thread] {
            for which in 0..self.open[thread].len() {
                self.exclude(self.open[thread][which], event, growth);
            }
        }
    }

    /// Other writes that come before a read come before what it sees.
    fn keep_others_away(&mut self, read: u32, growth: u64) {
        let window = self.window;
        let source = self.source[read as usize];
        let Some(variable) = window.variable(read) else { return };
        for (thread, writes) in
            variable.writes.iter().filter(|(thread, _)| growth & bit(*thread as usize) != 0)
        {
            let before = self.known(read)[*thread as usize];
            let count = writes.partition_point(|&write| window.place[write as usize] < before);
            let Some(&last) = writes[..count].last() else { continue };
            if source == ENTRY {
                self.tasks.push_back(Task::Order { from: read, to: last, why: Why::Overwrites });
            } else if last != source {
                self.tasks.push_back(Task::Order { from: last, to: source, why: Why::Between(read) });
            }
        }
    }

    /// A read that must see an earlier write comes before this one.
    fn read_before_overwritten(&mut self, write: u32, growth: u64) {
        let window = self.window;
        let Some(variable) = window.variable(write) else { return };
        for (thread, writes) in
            variable.writes.iter().filter(|(thread, _)| growth & bit(*thread as usize) != 0)
        {
            let before = self.known(write)[*thread as usize];
            let count = writes.partition_point(|&earlier| window.place[earlier as usize] < before);
            let Some(&last) = writes[..count].last() else { continue };
            let mut read = self.first_reader[last as usize];
            while read != NONE {
                if read != write {
                    self.tasks.push_back(Task::Order { from: read, to: write, why: Why::Overwrites });
                }
                read = self.next_reader[read as usize];
            }
        }
    }

    /// Sections that exclude this one, and begin before an event of it, have ended before it begins.
    fn exclude(&mut self, number: u32, event: u32, growth: u64) {
        let window = self.window;
        let section = &window.sections[number as usize];
        if section.begin == BEFORE {
            return;
        }
        for (thread, mode, others) in &window.locks[section.lock as usize].sections {
            if *thread == section.thread
                || !mode.excludes(section.mode)
                || growth & bit(*thread as usize) == 0
            {
                continue;
            }
            let before = self.known(event)[*thread as usize];
            let begun = others.partition_point(|&other| {
                let begin = window.sections[other as usize].begin;
                begin == BEFORE || window.place[begin as usize] < before
            });
            if let Some(last) = others[..begun].last().map(|&other| &window.sections[other as usize])
                && last.ends()
            {
                let why = Why::WindowSection(event);
                self.tasks.push_back(Task::Order { from: last.end, to: section.acquire, why });
            }
        }
    }

    /// The shortest way from `to` back to `from`, closed by the edge that was to be added.
    fn cycle(&self, from: u32, to: u32, why: Why) -> Vec<(u32, Why)> {
        let mut reached = rustc_hash::FxHashMap::default();
        let mut next = VecDeque::from([to]);
        while let Some(event) = next.pop_front() {
            if event == from {
                break;
            }
            let place = self.window.place[event as usize] + 1;
            let thread = self.window.thread[event as usize];
            let follower =
                (place < self.running[thread as usize]).then(|| (self.window.at(thread, place), Why::Must));
            for (after, why) in
                follower.into_iter().chain(self.leaving(event).map(|edge| (edge.to, edge.why)))
            {
                if after != to && !reached.contains_key(&after) {
                    reached.insert(after, (event, why));
                    next.push_back(after);
                }
            }
        }
        let mut cycle = vec![(from, why)];
        let mut event = from;
        while let Some(&(before, why)) = reached.get(&event) {
            cycle.push((before, why));
            event = before;
        }
        cycle.reverse();
        cycle
    }
}

fn bit(thread: usize) -> u64 {
    1 << (thread % 64)
}
