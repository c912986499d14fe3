//! What the solver learns when a thread goes on in a schedule without being woken, or before those have come whom it
//! meets.

use rustc_hash::{FxHashMap, FxHashSet};

use foretell_solve::Lit;

use super::EncodedSearch;
use crate::certify::{Atom, Axiom};
use crate::index::NONE;
use crate::window::meetings::Role;

/// A return from a wait, in a schedule.
struct Return {
    event: u32,
    /// The notifications of one thread since the wait.
    since: Vec<u32>,
}

impl EncodedSearch<'_> {
    /// A thread returned although no notification was left for it: it and others, together, have fewer notifications of
    /// one thread than they are. One of them does not return, or has another notification.
    pub(super) fn state_wakeups(&mut self, number: u32, woken: u32, earlier: &[u32]) {
        (self.violated, self.learnt) = (true, true);
        let crowd = self.crowd(number, woken, earlier);
        let back: Vec<u32> = crowd.iter().map(|back| back.event).collect();
        let shared: FxHashSet<u32> = crowd.iter().flat_map(|back| &back.since).copied().collect();
        let mut clause: Vec<Lit> = Vec::new();
        for back in &crowd {
            clause.push(!self.runs(back.event));
            for place in 0..self.window.meetings.conditions[number as usize].notifications.len() {
                let other = self.window.meetings.conditions[number as usize].notifications[place];
                if !shared.contains(&other) {
                    clause.push(self.wakes(other, back.event));
                }
            }
        }
        let shared = || shared.iter().copied().collect();
        self.state(&clause, || Axiom::Wakeups { back: back.into(), shared: shared() });
    }

    /// The return, and others that are in its way: all notifications that it could have returned by were for these, and
    /// all that these could have returned by were for others of them.
    fn crowd(&self, number: u32, woken: u32, earlier: &[u32]) -> Vec<Return> {
        let (mut returns, by) = self.returns(number, woken, earlier);
        let mut crowd = Vec::new();
        let mut next = vec![woken];
        while let Some(event) = next.pop() {
            if let Some(back) = returns.remove(&event) {
                next.extend(back.since.iter().filter_map(|notification| by.get(notification)));
                crowd.push(back);
            }
        }
        crowd
    }

    /// The returns up to `woken` that are not due to a notification of all, and who returned by which notification.
    fn returns(
        &self,
        number: u32,
        woken: u32,
        earlier: &[u32],
    ) -> (FxHashMap<u32, Return>, FxHashMap<u32, u32>) {
        let window = self.window;
        let condition = &window.meetings.conditions[number as usize];
        let mut waiting: FxHashMap<u32, Vec<u32>> =
            condition.waiting.iter().map(|&thread| (thread, Vec::new())).collect();
        let (mut returns, mut by) = (FxHashMap::default(), FxHashMap::default());
        for &event in earlier.iter().chain([&woken]) {
            let thread = window.thread[event as usize];
            match window.meetings.role(event) {
                Some(Role::Wait(of)) if of == number => {
                    waiting.insert(thread, Vec::new());
                }
                Some(Role::NotifyOne(of)) if of == number => {
                    waiting.values_mut().for_each(|since| since.push(event));
                }
                Some(Role::NotifyAll(of)) if of == number => waiting.clear(),
                Some(Role::Return(of)) if of == number => {
                    let Some(since) = waiting.remove(&thread) else { continue };
                    if let Some(&first) = since.iter().find(|notification| !by.contains_key(*notification)) {
                        by.insert(first, event);
                    }
                    returns.insert(event, Return { event, since });
                }
                _ => {}
            }
        }
        (returns, by)
    }

    /// The statement that a notification comes between a wait and the return from it.
    fn wakes(&mut self, notification: u32, woken: u32) -> Lit {
        let window = self.window;
        if window.thread[notification as usize] == window.thread[woken as usize] {
            return Lit::FALSE;
        }
        if let Some(&known) = self.wakeups.get(&(notification, woken)) {
            return known;
        }
        let literal = self.boolean(self.is_observed(notification, woken), Atom::Wakes(notification, woken));
        self.wakeups.insert((notification, woken), literal);
        self.sources += 1;
        if let Some(wait) = window.before(woken) {
            let order = self.before(wait, notification);
            self.state(&[!literal, order], || Axiom::AfterWait { notification, woken });
        }
        let order = self.runs_before(notification, woken);
        let runs = self.runs(notification);
        self.state(&[!literal, order], || Axiom::BeforeReturn { notification, woken });
        self.state(&[!literal, runs], || Axiom::WakerRuns { notification, woken });
        literal
    }

    fn is_observed(&self, notification: u32, woken: u32) -> bool {
        let begin = self.window.begin;
        self.window.index.notification(begin + woken) == begin + notification
    }

    /// A thread departed although not all have come: one of those that came before it comes later, so that it meets
    /// others, or another thread comes before it departs.
    pub(super) fn state_arrivals(&mut self, number: u32, depart: u32, earlier: &[u32]) {
        (self.violated, self.learnt) = (true, true);
        let window = self.window;
        let barrier = &window.meetings.barriers[number as usize];
        let came: Vec<u32> = earlier
            .iter()
            .copied()
            .filter(|&event| window.meetings.role(event) == Some(Role::Arrive(number)))
            .collect();
        let (mut clause, mut first) = (vec![!self.runs(depart)], Vec::new());
        let thread = window.thread[depart as usize];
        let own = came.iter().rposition(|&arrival| window.thread[arrival as usize] == thread);
        if let Some(own) = own.filter(|_| !barrier.inside.iter().any(|inside| inside.0 == thread)) {
            // So many must have come before it for its generation to be no earlier one.
            let before = barrier.arrived + u32::try_from(own).unwrap_or(NONE);
            let full = (before / barrier.size) * barrier.size;
            let needed = full.saturating_sub(barrier.arrived) as usize;
            for &other in &came[..needed] {
                clause.push(self.before(came[own], other));
            }
            first.extend_from_slice(&came[..needed]);
        }
        let all: Box<[u32]> = came.as_slice().into();
        let came: FxHashSet<u32> = came.into_iter().collect();
        for &other in barrier.arrivals.iter().filter(|other| !came.contains(*other)) {
            clause.push(self.runs_before(other, depart));
        }
        self.state(&clause, || Axiom::Arrivals { depart, earlier: first.into(), came: all });
    }
}
