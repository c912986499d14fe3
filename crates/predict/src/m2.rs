//! M2 (Pavlogiannis, POPL 2020), and SeqCheck (Cai et al., FSE 2021) and ReconP as the same with fewer pinned reads.
//!
//! The ideal of a pair holds what comes before the two accesses in its threads, the writes that its reads saw, and the
//! ends of all sections that other threads begin in it. Its events are ordered by the rules of [`crate::closure`]; then
//! conflicting events of all threads but one are put in the order of the trace, closing after each step. What is left
//! is a schedule. As published this finds all races of two threads, but with a third one it may miss even plain ones:
//! ending a section of that thread may need one of the two accesses.
//!
//! **Changed:** semaphores and failed attempts to lock, which the papers do not have, are not ordered by rules; a
//! schedule that breaks them is not reported. Who returned from a wait does so by the notification that the trace
//! suggests, and those meet at a barrier who met. Where single reads matter, one that finds the same value whichever
//! write it sees does not ([`crate::settled`]). **Guarantee:** every report is a race, and what is called impossible is
//! impossible (by the same rules without the ends of other sections); between the two it says that it does not know.
//! **May miss:** races with three or more threads.

use crate::closure::{Closure, Patience};
use crate::greedy::{Care, GreedyPlan};
use crate::kept::{Demand, Kept};
use crate::replay::Subjects;
use crate::window::{Domain, Window};

/// A schedule for the goal that the window is made for, if M2 finds one.
pub(crate) fn schedule(mut window: Window<'_>, patience: Patience<'_>) -> Option<Vec<u32>> {
    let ideal = Ideal::of_goal(&window)?;
    window.restrict(ideal);
    let window = &window;
    let mut closure = Closure::new(window, patience);
    closure.run_everything().ok()?;
    closure.pin_goal().ok()?;
    closure.close().ok()?;
    let subjects = Subjects::new(&closure);
    window.next.iter().find_map(|&next| {
        let lead = window.thread[next as usize];
        let ordered = order_all_but(lead, closure.clone())?;
        GreedyPlan::least(&ordered, &subjects).schedule(Care::Strict)
    })
}

/// Puts conflicting events of all threads but the lead in the order of the trace, as far as they are not ordered.
fn order_all_but<'w>(lead: u32, mut closure: Closure<'w>) -> Option<Closure<'w>> {
    let window = closure.window;
    for event in 0..window.len() {
        if closure.runs(event) && window.thread[event as usize] != lead {
            for earlier in conflicts_before(event, lead, &closure) {
                if !closure.is_before(earlier, event) {
                    closure.assume(earlier, event).ok()?;
                }
            }
        }
    }
    Some(closure)
}

/// Of each thread but the lead and its own, the last event before this one in the trace that conflicts with it and is
/// not ordered after it.
fn conflicts_before(event: u32, lead: u32, closure: &Closure<'_>) -> Vec<u32> {
    let window = closure.window;
    let mut found = Vec::new();
    let mut last = |thread: u32, events: &mut dyn Iterator<Item = u32>| {
        if thread != lead && thread != window.thread[event as usize] {
            let fits =
                |&other: &u32| other < event && closure.runs(other) && !closure.is_before(event, other);
            found.extend(events.filter(fits).max());
        }
    };
    if let Some(variable) = window.variable(event) {
        if window.changes_memory(event) {
            for thread in 0..window.threads.len() {
                let thread = u32::try_from(thread).unwrap_or(lead);
                let of_thread = |&&access: &&u32| window.thread[access as usize] == thread;
                last(thread, &mut variable.accesses.iter().filter(of_thread).copied());
            }
        } else {
            for (thread, writes) in &variable.writes {
                last(*thread, &mut writes.iter().copied());
            }
        }
    }
    let begins = window.sections_of[window.thread[event as usize] as usize].iter();
    let section =
        begins.map(|&number| &window.sections[number as usize]).find(|section| section.begin == event);
    if let Some(section) = section {
        for (thread, mode, others) in &window.locks[section.lock as usize].sections {
            if mode.excludes(section.mode) {
                let ends =
                    others.iter().map(|&other| &window.sections[other as usize]).filter(|other| other.ends());
                last(*thread, &mut ends.map(|other| other.end));
            }
        }
    }
    found
}

/// The events that a schedule of M2 runs.
struct Ideal<'w> {
    window: &'w Window<'w>,
    /// How many events of each thread are in it.
    running: Vec<u32>,
    /// How many of these have been looked at.
    looked_at: Vec<u32>,
    /// The pinned reads, and what is still to be added to them.
    kept: Kept,
    demands: Vec<Demand>,
}

impl<'w> Ideal<'w> {
    /// How many events of each thread are in the ideal of the goal, unless one of the events that come next is.
    fn of_goal(window: &'w Window<'w>) -> Option<Vec<u32>> {
        let threads = window.threads.len();
        let mut ideal = Ideal {
            window,
            running: vec![0; threads],
            looked_at: vec![0; threads],
            kept: Kept::new(threads),
            demands: Vec::new(),
        };
        for &event in &window.next {
            window.to_come_next(event, |demand| ideal.demands.push(demand));
            let before = window.before(event);
            for needed in before.into_iter().chain(window.needs(event).iter().copied()) {
                ideal.add(needed)?;
            }
        }
        for event in window.goal_ran() {
            ideal.add(event)?;
        }
        while ideal.grow()? {}
        Some(ideal.running)
    }

    fn add(&mut self, event: u32) -> Option<()> {
        let (thread, place) =
            (self.window.thread[event as usize] as usize, self.window.place[event as usize]);
        self.running[thread] = self.running[thread].max(place + 1);
        (self.running[thread] <= self.window.limit[thread]).then_some(())
    }

    /// Adds what the events so far need. Tells whether that was anything.
    fn grow(&mut self) -> Option<bool> {
        let before = self.running.clone();
        let window = self.window;
        for thread in 0..before.len() {
            let number = u32::try_from(thread).ok()?;
            let (from, until) = (self.looked_at[thread], self.running[thread]);
            self.looked_at[thread] = until;
            for &event in &window.threads[thread][from as usize..until as usize] {
                for &need in window.needs(event) {
                    self.add(need)?;
                }
                self.add_habits(event)?;
            }
            let reads = window.steering(number, from..until).iter();
            self.demands
                .extend(reads.map(|&(place, read)| Demand::Read { read, because: window.at(number, place) }));
            let pinned = window.pinned_until(number, until);
            self.demands.push(Demand::Until { thread: number, until: pinned });
            self.keep()?;
            if !window.has_next(number) {
                self.end_sections(thread)?;
            }
        }
        Some(before != self.running)
    }

    /// Where others could have woken the thread or met it at a barrier, those who did are added.
    fn add_habits(&mut self, event: u32) -> Option<()> {
        let window = self.window;
        let mut added = Some(());
        window.index.for_each_habit(window.begin + event, |other| {
            if other >= window.begin && added.is_some() {
                added = self.add(other - window.begin);
            }
        });
        added
    }

    /// Adds what the pinned reads see.
    fn keep(&mut self) -> Option<()> {
        let window = self.window;
        while let Some(demand) = self.demands.pop() {
            while let Some(event) = self.kept.take_next(demand, window) {
                if let Domain::Write(write) = window.domain(event) {
                    self.add(write)?;
                    let demands = &mut self.demands;
                    window.to_be_seen(write, &mut self.kept.sets, |demand| demands.push(demand));
                }
            }
        }
        Some(())
    }

    fn end_sections(&mut self, thread: usize) -> Option<()> {
        let window = self.window;
        for &number in &window.sections_of[thread] {
            let section = &window.sections[number as usize];
            let begun =
                section.begin < window.len() && window.place[section.begin as usize] < self.running[thread];
            if begun && section.ends() {
                self.add(section.end)?;
            }
        }
        Some(())
    }
}
