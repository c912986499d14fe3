//! Where threads of a window wait for others of whom it does not matter who they are: conditions, whose waiters any
//! notification may wake, and barriers that any threads may cross together.
//!
//! A window with an open border has none of these: those who are waited for may lie outside.

use foretell_trace::{BarrierId, CondId, Op, ops};
use rustc_hash::FxHashMap;

use crate::index::{Gathering, Index, NONE};

/// Conditions and barriers of a window. Conditions with one notification only are not among them: who waits for that is
/// in the order of the window. Nor are barriers that always the same threads cross together.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    pub(crate) conditions: Vec<ConditionVariable>,
    pub(crate) barriers: Vec<BarrierMeetings>,
    /// What events do there.
    roles: FxHashMap<u32, Role>,
    condition_of: FxHashMap<CondId, u32>,
    barrier_of: FxHashMap<BarrierId, u32>,
}

/// What an event does at a condition or a barrier, which goes by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Begins a wait that ends by a notification.
    Wait(u32),
    /// Ends it.
    Return(u32),
    NotifyOne(u32),
    NotifyAll(u32),
    Arrive(u32),
    Depart(u32),
}

#[derive(Debug, Default)]
pub(crate) struct ConditionVariable {
    /// All notifications in the window.
    pub(crate) notifications: Vec<u32>,
    /// The threads that wait when the window begins, and have not been woken.
    pub(crate) waiting: Vec<u32>,
    /// Those that have been.
    pub(crate) woken: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct BarrierMeetings {
    /// How many cross it together.
    pub(crate) size: u32,
    /// How many have arrived before the window.
    pub(crate) arrived: u32,
    /// Who has arrived before the window and departs in it, with the generation.
    pub(crate) inside: Vec<(u32, u32)>,
    /// The arrivals in the window.
    pub(crate) arrivals: Vec<u32>,
}

/// An event of a window that begins at `begin`.
#[derive(Clone, Copy)]
pub(super) struct MeetingEvent {
    pub(super) begin: u32,
    pub(super) event: u32,
    /// Its thread, numbered within the window.
    pub(super) thread: u32,
}

impl Meetings {
    /// What the event does, if that is of interest.
    pub(crate) fn role(&self, event: u32) -> Option<Role> {
        if self.roles.is_empty() { None } else { self.roles.get(&event).copied() }
    }

    /// Whether there is nothing to be looked after.
    pub(crate) fn are_none(&self) -> bool {
        self.roles.is_empty()
    }

    /// Takes note of the next event of the window.
    pub(super) fn add(&mut self, index: &Index<'_>, member: MeetingEvent, op: Op) {
        let global = member.begin + member.event;
        let role = match op {
            Op::Wait { cond, .. } => {
                let next = index.place[global as usize] as usize + 1;
                let back = index.threads[index.event(global).thread.index()].get(next);
                let waits = back.is_some_and(|&back| ends_by_any(index, back));
                waits.then(|| Role::Wait(self.condition(cond)))
            }
            Op::Woken { cond, .. } if ends_by_any(index, global) => {
                let number = self.condition(cond);
                self.enter_wait(index, member, number);
                Some(Role::Return(number))
            }
            Op::Notify(cond) | Op::NotifyAll(cond) if index.has_many_notifications(cond) => {
                let number = self.condition(cond);
                self.conditions[number as usize].notifications.push(member.event);
                let one = matches!(op, Op::Notify(_));
                Some(if one { Role::NotifyOne(number) } else { Role::NotifyAll(number) })
            }
            Op::Arrive(barrier) => self.barrier(index, barrier, member.begin).map(|number| {
                self.barriers[number as usize].arrivals.push(member.event);
                Role::Arrive(number)
            }),
            Op::Depart(barrier) => self.barrier(index, barrier, member.begin).map(|number| {
                self.enter_barrier(index, member, number);
                Role::Depart(number)
            }),
            Op::Woken { .. }
            | Op::WaitTimeout { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(memory | locks | control | semaphores | labels) => None,
        };
        self.roles.extend(role.map(|role| (member.event, role)));
    }

    /// If the wait that ends here has begun before the window: was it woken by then?
    fn enter_wait(&mut self, index: &Index<'_>, member: MeetingEvent, number: u32) {
        let global = member.begin + member.event;
        let wait = before(index, global);
        if wait < member.begin {
            let condition = &mut self.conditions[number as usize];
            let woken = index.notification(global) < member.begin;
            if woken { &mut condition.woken } else { &mut condition.waiting }.push(member.thread);
        }
    }

    /// If the thread that departs here has arrived before the window: with whom?
    fn enter_barrier(&mut self, index: &Index<'_>, member: MeetingEvent, number: u32) {
        let global = member.begin + member.event;
        if index.arrival_of(global) < member.begin {
            let generation = index.generation(global);
            self.barriers[number as usize].inside.push((member.thread, generation));
        }
    }

    fn condition(&mut self, cond: CondId) -> u32 {
        let Meetings { conditions, condition_of, .. } = self;
        *condition_of.entry(cond).or_insert_with(|| {
            conditions.push(ConditionVariable::default());
            number(conditions.len() - 1)
        })
    }

    fn barrier(&mut self, index: &Index<'_>, barrier: BarrierId, begin: u32) -> Option<u32> {
        let Gathering::Any(size) = index.gathering(barrier) else { return None };
        let Meetings { barriers, barrier_of, .. } = self;
        Some(*barrier_of.entry(barrier).or_insert_with(|| {
            let arrived = number(index.arrivals_until(barrier, begin));
            barriers.push(BarrierMeetings { size, arrived, inside: Vec::new(), arrivals: Vec::new() });
            number(barriers.len() - 1)
        }))
    }
}

/// Whether the event is a return from a wait that one of several notifications may have caused.
fn ends_by_any(index: &Index<'_>, event: u32) -> bool {
    matches!(index.event(event).op, Op::Woken { .. })
        && index.notification(event) != NONE
        && index.only_notification(event) == NONE
}

/// The event before this one in its thread.
fn before(index: &Index<'_>, event: u32) -> u32 {
    let place = index.place[event as usize].checked_sub(1);
    place.map_or(NONE, |place| index.threads[index.event(event).thread.index()][place as usize])
}

/// A count of things of which there are fewer than events.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
