//! Who waits at conditions and barriers while a schedule runs, and who may go on.
//!
//! Which notification a thread returns by need not be said before it returns. The first since its wait by which no
//! thread has returned by is the best: who could return by it could return by each later one. So it is enough to count,
//! for each thread that waits, the notifications since; when a thread returns, it is one less for those who have waited
//! at least as long.

use crate::window::meetings::{Meetings, Role};

/// The state of all conditions and barriers.
#[derive(Clone, Debug)]
pub(super) struct Gathered<'w> {
    meetings: &'w Meetings,
    conditions: Vec<Vec<Waiter>>,
    barriers: Vec<ReplayedBarrier>,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: u32,
    /// Notifications of one thread since its wait, by which no thread has returned.
    signals: u32,
    /// All were notified since its wait.
    woken: bool,
}

#[derive(Clone, Debug)]
struct ReplayedBarrier {
    arrived: u32,
    /// Who has arrived and not departed, with the generation.
    inside: Vec<(u32, u32)>,
}

impl<'w> Gathered<'w> {
    pub(super) fn new(meetings: &'w Meetings) -> Gathered<'w> {
        let waiter = |woken: bool| move |&thread: &u32| Waiter { thread, signals: 0, woken };
        let conditions = meetings.conditions.iter();
        let barriers = meetings.barriers.iter();
        Gathered {
            meetings,
            conditions: conditions
                .map(|c| {
                    c.waiting.iter().map(waiter(false)).chain(c.woken.iter().map(waiter(true))).collect()
                })
                .collect(),
            barriers: barriers
                .map(|b| ReplayedBarrier { arrived: b.arrived, inside: b.inside.clone() })
                .collect(),
        }
    }

    /// What the event does that the thread cannot do now.
    pub(super) fn in_vain(&self, event: u32, thread: u32) -> Option<Role> {
        let role = self.meetings.role(event)?;
        let goes_on = match role {
            Role::Return(number) => {
                let waiter = self.conditions[number as usize].iter().find(|waiter| waiter.thread == thread);
                waiter.is_none_or(|waiter| waiter.woken || waiter.signals > 0)
            }
            Role::Depart(number) => {
                let barrier = &self.barriers[number as usize];
                let with = barrier.inside.iter().find(|inside| inside.0 == thread);
                let size = u64::from(self.meetings.barriers[number as usize].size);
                with.is_none_or(|with| u64::from(barrier.arrived) >= (u64::from(with.1) + 1) * size)
            }
            Role::Wait(_) | Role::NotifyOne(_) | Role::NotifyAll(_) | Role::Arrive(_) => true,
        };
        (!goes_on).then_some(role)
    }

    /// Runs the event, whether it can or not.
    pub(super) fn step(&mut self, event: u32, thread: u32) {
        match self.meetings.role(event) {
            Some(Role::Wait(number)) => {
                self.conditions[number as usize].push(Waiter { thread, signals: 0, woken: false });
            }
            Some(Role::Return(number)) => self.go_back(number, thread),
            Some(Role::NotifyOne(number)) => {
                for waiter in self.conditions[number as usize].iter_mut().filter(|waiter| !waiter.woken) {
                    waiter.signals += 1;
                }
            }
            Some(Role::NotifyAll(number)) => {
                for waiter in &mut self.conditions[number as usize] {
                    waiter.woken = true;
                }
            }
            Some(Role::Arrive(number)) => {
                let size = self.meetings.barriers[number as usize].size;
                let barrier = &mut self.barriers[number as usize];
                barrier.inside.push((thread, barrier.arrived / size));
                barrier.arrived += 1;
            }
            Some(Role::Depart(number)) => {
                self.barriers[number as usize].inside.retain(|inside| inside.0 != thread);
            }
            None => {}
        }
    }

    fn go_back(&mut self, number: u32, thread: u32) {
        let waiting = &mut self.conditions[number as usize];
        let Some(place) = waiting.iter().position(|waiter| waiter.thread == thread) else { return };
        let Waiter { signals, woken, .. } = waiting.swap_remove(place);
        if !woken && signals > 0 {
            for waiter in waiting.iter_mut().filter(|waiter| !waiter.woken) {
                waiter.signals -= u32::from(waiter.signals >= signals);
            }
        }
    }
}
