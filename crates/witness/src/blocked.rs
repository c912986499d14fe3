//! Why an event cannot run.

use foretell_trace::values::{Demanded, number_text};
use foretell_trace::{BarrierId, CondId, EventId, LockId, Names, SemId, ThreadId, VarId};

/// The reason why a thread's next event cannot run in the present state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// The thread has no event left.
    AtEnd,
    /// The thread was forked in the trace, and the fork has not run.
    NotForked,
    /// The thread read something else than observed, and what it does next is unknown.
    Deviated,
    /// This read of the thread saw something else than observed, and decides what happens from here on.
    Steered(EventId),
    /// What the event demands does not hold: a decision would go another way, or something else would be accessed.
    OtherWay {
        /// What it must be,
        wanted: Demanded,
        /// and what it is, if that is known.
        found: Option<Demanded>,
        /// Whether numbers are shown with a sign.
        signed: bool,
    },
    /// The read would see another write than it observed; `None` stands for the initial content.
    OtherWrite(VarId, Option<EventId>),
    /// The variable's memory is not allocated yet.
    NotAllocated(VarId),
    /// The variable's memory was freed.
    Freed(VarId),
    /// Another thread holds the lock.
    Held(LockId, ThreadId),
    /// The lock is free, so an attempt to take it would not fail.
    NotHeld(LockId),
    /// The thread to be joined has events left.
    StillRuns(ThreadId),
    /// The semaphore's creation has not run.
    NotCreated(SemId),
    /// The semaphore has no permit.
    NoPermit(SemId),
    /// No notification has come since the thread began to wait, but for those that others have returned by.
    NotNotified(CondId),
    /// Arrivals of the generation (counted from 0) at the barrier are missing.
    ArrivalsMissing(BarrierId, u32),
    /// An earlier event of the trace that no recorded write explains has not run.
    BehindUnexplained(EventId),
    /// The event is one that no recorded write explains, and something before it in the trace has not run.
    UnexplainedTooEarly,
    /// The event is one that no recorded write explains, and some thread read something else than observed.
    UnexplainedAfterDeviation,
}

impl Blocked {
    /// The reason in words, with the names of the trace.
    pub fn text(self, names: &Names) -> String {
        let var = |var| names.vars.name(var);
        let lock = |lock| names.locks.name(lock);
        let thread = |thread| names.threads.name(thread);
        let sem = |sem| names.sems.name(sem);
        match self {
            Blocked::AtEnd => "the thread has no event left".to_string(),
            Blocked::NotForked => "the thread is not forked yet".to_string(),
            Blocked::Deviated => "its thread has read something else than observed".to_string(),
            Blocked::Steered(read) => {
                format!(
                    "event {read} has read something else than observed, and that decides what happens here"
                )
            }
            Blocked::OtherWay { wanted, found, signed } => {
                let text = |known| match known {
                    Demanded::Number(number) => number_text(number, signed),
                    Demanded::Name(value) => names.value_text(value).into_owned(),
                };
                let found = found.map_or_else(|| "not known".to_string(), text);
                format!("it would go another way: what it depends on is {found}, and was {}", text(wanted))
            }
            Blocked::OtherWrite(x, None) => format!("it would read the initial content of {}", var(x)),
            Blocked::OtherWrite(x, Some(write)) => {
                format!("it would read {} from event {write}", var(x))
            }
            Blocked::NotAllocated(x) => format!("{} is not allocated yet", var(x)),
            Blocked::Freed(x) => format!("{} is freed", var(x)),
            Blocked::Held(l, holder) => format!("{} holds {}", thread(holder), lock(l)),
            Blocked::NotHeld(l) => format!("no thread holds {}", lock(l)),
            Blocked::StillRuns(child) => format!("{} has not run to its end", thread(child)),
            Blocked::NotCreated(s) => format!("the semaphore {} is not created yet", sem(s)),
            Blocked::NoPermit(s) => format!("the semaphore {} has no permit", sem(s)),
            Blocked::NotNotified(cond) => {
                format!("no notification on {} is left for it since the wait", names.conds.name(cond))
            }
            Blocked::ArrivalsMissing(barrier, generation) => {
                let barrier = names.barriers.name(barrier);
                format!("not all have arrived at {barrier} for its crossing number {}", generation + 1)
            }
            Blocked::BehindUnexplained(event) => {
                format!("event {event}, which no recorded write explains, has not run")
            }
            Blocked::UnexplainedTooEarly => {
                "no recorded write explains it, and not everything before it in the trace has run".to_string()
            }
            Blocked::UnexplainedAfterDeviation => {
                "no recorded write explains it, and a thread has read something else than observed"
                    .to_string()
            }
        }
    }
}
