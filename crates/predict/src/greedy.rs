//! From an order to a schedule: always the event that comes first in the trace among those that can run.
//!
//! Not a search: it takes no step back. Asked to be [`Care::Strict`], it holds back what would spoil something later
//! and gives up when nothing can run; what it then returns is right. Asked to be [`Care::Blind`], it keeps to the order
//! only, so that one can see what the order lacks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::closure::{Closure, ENTRY};
use crate::kept::{Demand, Kept};
use crate::replay::{Replay, Subjects};
use crate::window::{Window, WindowSection};

/// What a schedule has to keep to, besides what the closure of its window says.
#[derive(Debug)]
pub(crate) struct GreedyPlan<'c> {
    pub(crate) closure: &'c Closure<'c>,
    pub(crate) subjects: &'c Subjects,
    /// How many events of each thread run, at least those that must.
    pub(crate) running: Vec<u32>,
    /// The events that must see what they saw.
    pub(crate) kept: Kept,
    /// Further events that must run before an event, if they run at all.
    pub(crate) before: FxHashMap<u32, Vec<u32>>,
}

/// How much a schedule cares for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Care {
    Strict,
    Blind,
}

impl<'c> GreedyPlan<'c> {
    /// Just what must run.
    pub(crate) fn least(closure: &'c Closure<'c>, subjects: &'c Subjects) -> GreedyPlan<'c> {
        GreedyPlan::new(closure, subjects, closure.running.clone(), FxHashMap::default())
    }

    pub(crate) fn new(
        closure: &'c Closure<'c>,
        subjects: &'c Subjects,
        running: Vec<u32>,
        before: FxHashMap<u32, Vec<u32>>,
    ) -> GreedyPlan<'c> {
        let window = closure.window;
        let mut kept = closure.kept.clone();
        for ((thread, &count), &known) in (0u32..).zip(&running).zip(&closure.running) {
            let until = window.pinned_until(thread, count);
            kept.take(Demand::Until { thread, until }, window);
            for &(place, read) in window.steering(thread, known..count) {
                kept.take(Demand::Read { read, because: window.at(thread, place) }, window);
            }
        }
        for &fence in &window.fences {
            if window.place[fence as usize] < running[window.thread[fence as usize] as usize] {
                window.to_be_as_observed(fence, |demand| kept.take(demand, window));
            }
        }
        GreedyPlan { closure, subjects, running, kept, before }
    }

    /// The events in the order in which they run, if all can.
    pub(crate) fn schedule(&self, care: Care) -> Option<Vec<u32>> {
        PartialSchedule::new(self, care).finish()
    }

    fn runs(&self, event: u32) -> bool {
        let window = self.closure.window;
        window.place[event as usize] < self.running[window.thread[event as usize] as usize]
    }
}

/// A schedule in the making.
struct PartialSchedule<'p> {
    plan: &'p GreedyPlan<'p>,
    window: &'p Window<'p>,
    care: Care,
    replay: Replay<'p>,
    /// How many events of each thread have run.
    next: Vec<u32>,
    /// Events that could run as far as the order goes.
    ready: BinaryHeap<Reverse<u32>>,
    /// Events that could not run for another reason when they were last looked at.
    stalled: Vec<u32>,
    /// Threads that wait for an event.
    waiting: FxHashMap<u32, Vec<u32>>,
    done: Vec<u32>,
}

impl<'p> PartialSchedule<'p> {
    fn new(plan: &'p GreedyPlan<'p>, care: Care) -> PartialSchedule<'p> {
        let window = plan.closure.window;
        PartialSchedule {
            plan,
            window,
            care,
            replay: Replay::new(window, plan.subjects),
            next: vec![0; plan.running.len()],
            ready: BinaryHeap::new(),
            stalled: Vec::new(),
            waiting: FxHashMap::default(),
            done: Vec::new(),
        }
    }

    fn finish(mut self) -> Option<Vec<u32>> {
        let total: usize = self.plan.running.iter().map(|&count| count as usize).sum();
        for thread in (0u32..).take(self.next.len()) {
            self.look_at(thread);
        }
        while let Some(Reverse(event)) = self.ready.pop() {
            if self.care == Care::Strict && self.is_stalled(event) {
                self.stalled.push(event);
            } else {
                self.step(event);
                if let Some([first, second]) = self.window.twins
                    && event == first
                {
                    self.follow_at_once(second)?;
                }
            }
        }
        (self.done.len() == total).then_some(self.done)
    }

    /// The second of two accesses that run one right after the other.
    fn follow_at_once(&mut self, event: u32) -> Option<()> {
        let is_ready = self.ready.iter().any(|ready| ready.0 == event);
        if !is_ready || (self.care == Care::Strict && self.is_stalled(event)) {
            return None;
        }
        self.ready.retain(|ready| ready.0 != event);
        self.step(event);
        Some(())
    }

    /// Finds out what the thread's next event waits for.
    fn look_at(&mut self, thread: u32) {
        let place = self.next[thread as usize];
        if place < self.plan.running[thread as usize] {
            let event = self.window.at(thread, place);
            match self.waits_for(event, thread) {
                Some(other) => self.waiting.entry(other).or_default().push(thread),
                None => self.ready.push(Reverse(event)),
            }
        }
    }

    fn waits_for(&self, event: u32, thread: u32) -> Option<u32> {
        let closure = self.plan.closure;
        let known = if closure.runs(event) { closure.known(event) } else { &[] };
        let missing = (0u32..)
            .zip(known.iter().zip(&self.next))
            .find(|(other, (known, next))| *other != thread && known > next);
        if let Some((other, (&known, _))) = missing {
            return Some(self.window.at(other, known - 1));
        }
        let needs = self.window.needs(event).iter().filter(|_| known.is_empty());
        let others = self.plan.before.get(&event).into_iter().flatten();
        needs.chain(others).copied().find(|&other| self.plan.runs(other) && !self.has_run(other))
    }

    fn step(&mut self, event: u32) {
        let thread = self.window.thread[event as usize];
        if self.care == Care::Strict {
            self.replay.step(event);
        }
        self.done.push(event);
        self.next[thread as usize] += 1;
        self.look_at(thread);
        for waiting in self.waiting.remove(&event).unwrap_or_default() {
            self.look_at(waiting);
        }
        self.ready.extend(self.stalled.drain(..).map(Reverse));
    }

    /// Whether the event had better not run now.
    fn is_stalled(&self, event: u32) -> bool {
        let thread = self.window.thread[event as usize];
        if let Some(access) = self.window.op(event).access() {
            let pinned = access.kind.reads() && self.plan.kept.contains(event, self.window);
            (pinned && !self.replay.is_as_observed(event))
                || (access.kind.writes() && (self.is_still_read(event) || self.is_still_used(event)))
        } else {
            self.replay.obstacle(event).is_some() || self.would_hold_forever(event, thread)
        }
    }

    /// Whether a read must still see what the event would overwrite.
    fn is_still_read(&self, event: u32) -> bool {
        let closure = self.plan.closure;
        let waits = |read: u32| read != event && !self.has_run(read);
        match self.replay.writer(event) {
            ENTRY => closure.entry_readers(self.window.var[event as usize]).iter().any(|&read| waits(read)),
            writer => closure.readers(writer).any(waits),
        }
    }

    /// Whether the event would free memory that is still accessed.
    fn is_still_used(&self, event: u32) -> bool {
        let frees = |variable: &&crate::window::VariableAccesses| variable.free == event;
        self.window.variable(event).filter(frees).is_some_and(|variable| {
            variable
                .accesses
                .iter()
                .any(|&access| access != event && self.plan.runs(access) && !self.has_run(access))
        })
    }

    /// Whether the event begins a section that does not end here while others still want the lock.
    fn would_hold_forever(&self, event: u32, thread: u32) -> bool {
        if self.window.op(event).section_begin().is_none() {
            return false;
        }
        let stays_open = |&&number: &&u32| {
            let section = &self.window.sections[number as usize];
            section.begin == event && !(section.ends() && self.plan.runs(section.end))
        };
        let mine = &self.window.sections_of[thread as usize];
        let begun = mine.partition_point(|&number| {
            let begin = self.window.sections[number as usize].begin;
            begin >= self.window.len()
                || self.window.place[begin as usize] < self.window.place[event as usize]
        });
        let Some(&open) = mine[begun..].iter().take(1).find(stays_open) else { return false };
        let section = &self.window.sections[open as usize];
        let others = &self.window.locks[section.lock as usize].sections;
        others.iter().any(|(_, _, others)| self.is_wanted(others, section))
    }

    /// Whether one of the sections of a thread, which exclude `section`, has still to begin. They begin in their order,
    /// so it is enough to look at the last that runs.
    fn is_wanted(&self, others: &[u32], section: &WindowSection) -> bool {
        let section_of = |&number: &u32| &self.window.sections[number as usize];
        let run = others.partition_point(|other| {
            let begin = section_of(other).begin;
            begin >= self.window.len() || self.plan.runs(begin)
        });
        others[..run].last().map(section_of).is_some_and(|last| {
            last.excludes(section) && last.begin < self.window.len() && !self.has_run(last.begin)
        })
    }

    fn has_run(&self, event: u32) -> bool {
        self.window.place[event as usize] < self.next[self.window.thread[event as usize] as usize]
    }
}
