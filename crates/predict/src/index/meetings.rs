//! Who woke whom in the observed run, who met whom at a barrier, and what of that every schedule keeps.

use foretell_trace::{BarrierId, CondId, Op, ThreadId, ops};

use super::{Index, NONE};

/// Who meets whom at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gathering {
    /// Those that met: no other thread comes, so it cannot be otherwise.
    Same,
    /// As many as this, whichever threads they are.
    Any(u32),
    /// Generations differ in size, so this is unknown; those that met are taken, or, to be sure of a "no", no thread
    /// waits.
    Unknown,
}

/// What is taken to hold where the trace does not tell who meets whom at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unknown {
    /// Those meet who met.
    AsRecorded,
    /// No thread waits for another.
    Open,
}

impl Index<'_> {
    /// A notification that explains a return from a wait, or [`NONE`] if it needs none. Others may wake it as well.
    pub(crate) fn notification(&self, woken: u32) -> u32 {
        self.source[woken as usize]
    }

    /// The only notification that can cause a return from a wait, or [`NONE`] if it needs none, or there are several.
    /// In a part of a trace there may be others elsewhere.
    pub(crate) fn only_notification(&self, woken: u32) -> u32 {
        match self.event(woken).op {
            Op::Woken { cond, .. } if self.notified[cond.index()] == 1 && self.part.is_none() => {
                self.notification(woken)
            }
            ops!(memory | locks | control | semaphores | conditions | barriers | labels) => NONE,
        }
    }

    /// Whether the condition has more than one notification.
    pub(crate) fn has_many_notifications(&self, cond: CondId) -> bool {
        self.notified[cond.index()] > u32::from(self.part.is_none())
    }

    /// Who meets whom at the barrier.
    pub(crate) fn gathering(&self, barrier: BarrierId) -> Gathering {
        self.gathering[barrier.index()]
    }

    /// Whether there are barriers at which it is unknown which threads can meet.
    pub(crate) fn has_unknown_barriers(&self) -> bool {
        self.gathering.contains(&Gathering::Unknown)
    }

    /// How many have arrived at the barrier in the observed run before `event`.
    pub(crate) fn arrivals_until(&self, barrier: BarrierId, event: u32) -> usize {
        let generations = self.generations[barrier.index()].iter();
        generations.map(|arrivals| arrivals.partition_point(|&arrival| arrival < event)).sum()
    }

    /// The arrival of a thread that departs.
    pub(crate) fn arrival_of(&self, depart: u32) -> u32 {
        let Op::Depart(barrier) = self.event(depart).op else { return NONE };
        let generation = self.source[depart as usize] as usize;
        let mut arrivals = self.generations[barrier.index()].get(generation).into_iter().flatten().copied();
        arrivals.find(|&arrival| self.event(arrival).thread == self.event(depart).thread).unwrap_or(NONE)
    }

    /// The generation of an arrival or a departure in the observed run.
    pub(crate) fn generation(&self, event: u32) -> u32 {
        self.source[event as usize]
    }

    /// The arrivals of other threads that came before an arrival or a departure, as far as it waited for them.
    pub(super) fn arrivals_before(&self, event: u32) -> &[u32] {
        let generation = self.source[event as usize] as usize;
        match self.event(event).op {
            Op::Depart(barrier) => &self.generations[barrier.index()][generation],
            Op::Arrive(barrier) if generation > 0 => &self.generations[barrier.index()][generation - 1],
            Op::Arrive(_) | ops!(memory | locks | control | semaphores | conditions | labels) => &[],
        }
    }

    /// Whether all schedules keep to what the arrival or departure waited for, as far as is known.
    pub(super) fn waits_as_observed(&self, event: u32) -> bool {
        let (Op::Arrive(barrier) | Op::Depart(barrier)) = self.event(event).op else { return false };
        match self.gathering(barrier) {
            Gathering::Same => true,
            Gathering::Any(_) => false,
            Gathering::Unknown => self.unknown == Unknown::AsRecorded,
        }
    }

    /// What else the event waited for in the observed run, where something else might have done.
    pub(crate) fn for_each_habit(&self, event: u32, mut habit: impl FnMut(u32)) {
        match self.event(event).op {
            Op::Arrive(_) | Op::Depart(_) if !self.waits_as_observed(event) => {
                self.arrivals_before(event).iter().copied().filter(|&other| other < event).for_each(habit);
            }
            Op::Woken { .. } if self.notification(event) != NONE => habit(self.notification(event)),
            ops!(memory | locks | control | semaphores | conditions | barriers | labels) => {}
        }
    }

    pub(super) fn go_through_barriers(&mut self) {
        let mut inside: Vec<Vec<(ThreadId, usize)>> = vec![Vec::new(); self.generations.len()];
        for (index, event) in self.indexed() {
            match event.op {
                Op::Arrive(barrier) => {
                    let generations = &mut self.generations[barrier.index()];
                    let open = generations.len() - 1;
                    generations[open].push(index);
                    inside[barrier.index()].push((event.thread, open));
                    self.source[index as usize] = u32::try_from(open).unwrap_or(NONE);
                }
                Op::Depart(barrier) => {
                    let inside = &mut inside[barrier.index()];
                    let Some(which) = inside.iter().position(|inside| inside.0 == event.thread) else {
                        continue;
                    };
                    let (_, generation) = inside.swap_remove(which);
                    let generations = &mut self.generations[barrier.index()];
                    if generation + 1 == generations.len() {
                        generations.push(Vec::new());
                    }
                    self.source[index as usize] = u32::try_from(generation).unwrap_or(NONE);
                }
                ops!(memory | locks | control | semaphores | conditions | labels) => {}
            }
        }
        self.gathering = self.generations.iter().map(|generations| self.who_meets(generations)).collect();
    }

    /// Who meets whom at a barrier with these generations; no thread has departed from the last one.
    fn who_meets(&self, generations: &[Vec<u32>]) -> Gathering {
        let [complete @ .., last] = generations else { return Gathering::Same };
        let [first, others @ ..] = complete else { return Gathering::Same };
        if last.len() > first.len() || others.iter().any(|other| other.len() != first.len()) {
            return Gathering::Unknown;
        }
        // Each thread of a generation arrives once in it. If no other thread ever comes, all of them meet every time.
        let mut members: Vec<usize> =
            first.iter().map(|&arrival| self.event(arrival).thread.index()).collect();
        members.sort_unstable();
        let is_member = |&arrival: &u32| members.binary_search(&self.event(arrival).thread.index()).is_ok();
        match others.iter().chain([last]).flatten().all(is_member) {
            true => Gathering::Same,
            // There are fewer than 2^32 events.
            false => Gathering::Any(u32::try_from(first.len()).unwrap_or(NONE)),
        }
    }

    /// A notification explains the return that comes first, among those that say they were notified.
    pub(super) fn go_through_notifications(&mut self) {
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); self.trace.names().conds.len()];
        for (index, event) in self.indexed() {
            if let Op::Notify(cond) | Op::NotifyAll(cond) = event.op {
                self.notified[cond.index()] += 1;
            }
            match event.op {
                Op::Wait { cond, .. } => {
                    let place = self.place[index as usize] as usize;
                    let back = self.threads[event.thread.index()].get(place + 1).copied();
                    let woken = back.filter(|&back| matches!(self.event(back).op, Op::Woken { .. }));
                    waiting[cond.index()].extend(woken);
                }
                Op::Woken { cond, .. } => waiting[cond.index()].retain(|&back| back != index),
                Op::Notify(cond) => {
                    let first = waiting[cond.index()].iter().copied().min();
                    first.into_iter().for_each(|back| self.wake(index, back, cond, &mut waiting));
                }
                Op::NotifyAll(cond) => {
                    for back in waiting[cond.index()].clone() {
                        self.wake(index, back, cond, &mut waiting);
                    }
                }
                Op::WaitTimeout { .. } | ops!(memory | locks | control | semaphores | barriers | labels) => {}
            }
        }
    }

    fn wake(&mut self, notification: u32, back: u32, cond: CondId, waiting: &mut [Vec<u32>]) {
        self.source[back as usize] = notification;
        waiting[cond.index()].retain(|&waiter| waiter != back);
    }
}
