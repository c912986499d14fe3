//! Why the recorded run did not show a race: what came between the two accesses there and made them look ordered.

use foretell_trace::{BarrierId, CondId, Event, EventId, LockId, Op, SemId, ThreadId, Trace, VarId, ops};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::words::words;

/// How many links a chain may have to be shown.
const LINKS: usize = 3;

/// How the recorded run ordered the two accesses of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// By these synchronisations, one after the other.
    Ordered(Vec<Link>),
    /// Not at all: nothing that might order threads lies between them.
    Unordered,
}

/// Two events that synchronise: the first came before the second.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The first.
    pub from: Deed,
    /// The second.
    pub to: Deed,
    /// The witness of the race takes the second without the first before it: nothing in the program forces their order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_accident: bool,
}

/// Who did what.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deed {
    /// Who.
    pub thread: String,
    /// The number of the event.
    pub event: u32,
    /// What, in words.
    pub what: String,
    /// Where.
    #[serde(default)]
    pub location: String,
}

impl Observed {
    /// What can be said surely of two accesses, `None` if that is nothing. The witness, if there is one, shows which
    /// orders nothing forces.
    pub fn new(trace: &Trace, first: EventId, second: EventId, witness: Option<&[u32]>) -> Option<Observed> {
        if let Some(links) = chain(trace, first, second) {
            let link = |(from, to)| Link {
                from: Deed::new(trace, from),
                to: Deed::new(trace, to),
                is_accident: witness.is_some_and(|witness| is_reordered(trace, witness, from, to)),
            };
            return (links.len() <= LINKS).then(|| Observed::Ordered(links.into_iter().map(link).collect()));
        }
        (!might_be_ordered(trace, first, second)).then_some(Observed::Unordered)
    }

    /// All that is shown of events.
    pub fn deeds_mut(&mut self) -> impl Iterator<Item = &mut Deed> {
        let links = match self {
            Observed::Ordered(links) => links.as_mut_slice(),
            Observed::Unordered => &mut [],
        };
        links.iter_mut().flat_map(|link| [&mut link.from, &mut link.to])
    }
}

/// Whether the witness takes the second event without the first before it. A thread that is started or joined comes
/// first in every run.
fn is_reordered(trace: &Trace, witness: &[u32], from: EventId, to: EventId) -> bool {
    if matches!(trace.event(to).op, Op::Begin | Op::Join(_)) {
        return false;
    }
    let place = |event: EventId| witness.iter().position(|&number| number == event.number());
    place(to).is_some_and(|to| place(from).is_none_or(|from| from > to))
}

impl Deed {
    /// The event.
    pub(crate) fn new(trace: &Trace, id: EventId) -> Deed {
        let event = trace.event(id);
        Deed {
            thread: trace.names().threads.name(event.thread).to_string(),
            event: id.number(),
            what: words(event.op, trace.names()),
            location: trace.names().loc_text(event.loc).into_owned(),
        }
    }
}

/// What one thread hands on and another takes up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Token {
    /// A lock that was held alone.
    Lock(LockId),
    /// A lock that was held together with others.
    SharedLock(LockId),
    Sem(SemId),
    /// The begin of a thread.
    Begin(ThreadId),
    /// The end of a thread.
    End(ThreadId),
    /// What was published by a store.
    Published(VarId),
}

/// What several threads use to synchronise, or might.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Meeting {
    Lock(LockId),
    Sem(SemId),
    Cond(CondId),
    Barrier(BarrierId),
    Thread(ThreadId),
    /// Memory that is accessed atomically, allocated or freed.
    Memory(VarId),
    /// A thread outside the recording.
    Outside,
}

/// What an event hands on to later ones.
fn gives(event: &Event) -> Option<Token> {
    match event.op {
        Op::Release(lock) | Op::Wait { lock, .. } => Some(Token::Lock(lock)),
        Op::ReleaseShared(lock) => Some(Token::SharedLock(lock)),
        Op::SemPost(sem) => Some(Token::Sem(sem)),
        Op::Fork(child) => Some(Token::Begin(child)),
        Op::End => Some(Token::End(event.thread)),
        Op::Store { var, order, .. } | Op::Rmw { var, order, .. } if order.releases() => {
            Some(Token::Published(var))
        }
        Op::Acquire(_)
        | Op::TryAcquire(_)
        | Op::AcquireShared(_)
        | Op::TryAcquireShared(_)
        | Op::Join(_)
        | Op::Begin
        | Op::Branch
        | Op::SemInit { .. }
        | Op::SemWait(_)
        | Op::Woken { .. }
        | Op::WaitTimeout { .. }
        | Op::Notify(_)
        | Op::NotifyAll(_)
        | ops!(memory | barriers | labels | reentries | attempts) => None,
    }
}

/// What an event takes up from earlier ones.
fn takes(event: &Event) -> [Option<Token>; 2] {
    match event.op {
        Op::Acquire(lock) | Op::TryAcquire(lock) | Op::Woken { lock, .. } | Op::WaitTimeout { lock, .. } => {
            [Some(Token::Lock(lock)), Some(Token::SharedLock(lock))]
        }
        Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => [Some(Token::Lock(lock)), None],
        Op::SemWait(sem) => [Some(Token::Sem(sem)), None],
        Op::Join(child) => [Some(Token::End(child)), None],
        Op::Begin => [Some(Token::Begin(event.thread)), None],
        Op::Load { var, order, .. } | Op::Rmw { var, order, .. } if order.acquires() => {
            [Some(Token::Published(var)), None]
        }
        Op::Release(_)
        | Op::ReleaseShared(_)
        | Op::Fork(_)
        | Op::End
        | Op::Branch
        | Op::SemInit { .. }
        | Op::SemPost(_)
        | Op::Wait { .. }
        | Op::Notify(_)
        | Op::NotifyAll(_)
        | ops!(memory | barriers | labels | reentries | attempts) => [None, None],
    }
}

/// The synchronisations that lead from the first event to the second, if there is such a chain.
fn chain(trace: &Trace, first: EventId, second: EventId) -> Option<Vec<(EventId, EventId)>> {
    let mut links: FxHashMap<ThreadId, Vec<(EventId, EventId)>> = FxHashMap::default();
    links.insert(trace.event(first).thread, Vec::new());
    let mut tokens: FxHashMap<Token, EventId> = FxHashMap::default();
    let goal = trace.event(second).thread;
    for id in between(first, second) {
        let event = trace.event(id);
        if !links.contains_key(&event.thread) {
            let taken = takes(&event).into_iter().flatten().find_map(|token| tokens.get(&token).copied());
            if let Some(given) = taken {
                let mut chain = links.get(&trace.event(given).thread)?.clone();
                chain.push((given, id));
                if event.thread == goal {
                    return Some(chain);
                }
                links.insert(event.thread, chain);
            }
        }
        if let Op::Store { var, .. } = event.op {
            // A read of this write does not synchronise with earlier releases.
            tokens.remove(&Token::Published(var));
        }
        if let (true, Some(token)) = (links.contains_key(&event.thread), gives(&event)) {
            tokens.entry(token).or_insert(id);
        }
    }
    None
}

/// Where an event meets other threads.
fn meetings(event: &Event) -> [Option<Meeting>; 2] {
    let at = |meeting| [Some(meeting), None];
    match event.op {
        _ if event.unexplained => at(Meeting::Outside),
        Op::Acquire(lock)
        | Op::TryAcquire(lock)
        | Op::AcquireAgain(lock)
        | Op::AcquireShared(lock)
        | Op::TryAcquireShared(lock)
        | Op::AcquireSharedAgain(lock)
        | Op::Release(lock)
        | Op::ReleaseAgain(lock)
        | Op::ReleaseShared(lock)
        | Op::ReleaseSharedAgain(lock)
        | Op::TryAcquireFailed(lock)
        | Op::TryAcquireSharedFailed(lock) => at(Meeting::Lock(lock)),
        Op::Wait { cond, lock } | Op::Woken { cond, lock } | Op::WaitTimeout { cond, lock } => {
            [Some(Meeting::Cond(cond)), Some(Meeting::Lock(lock))]
        }
        Op::Notify(cond) | Op::NotifyAll(cond) => at(Meeting::Cond(cond)),
        Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => at(Meeting::Sem(sem)),
        Op::Arrive(barrier) | Op::Depart(barrier) => at(Meeting::Barrier(barrier)),
        Op::Fork(thread) | Op::Join(thread) => at(Meeting::Thread(thread)),
        Op::Begin | Op::End => at(Meeting::Thread(event.thread)),
        Op::Read { var, .. }
        | Op::Write { var, .. }
        | Op::Load { var, .. }
        | Op::Store { var, .. }
        | Op::Rmw { var, .. }
        | Op::Alloc(var)
        | Op::Free(var) => at(Meeting::Memory(var)),
        // A fence orders only by the atomics around it.
        Op::Fence { .. } | Op::Branch | Op::Enter(_) | Op::Exit(_) | Op::Dummy(_) => [None, None],
    }
}

/// Whether anything between the two events could order them, in whatever way.
fn might_be_ordered(trace: &Trace, first: EventId, second: EventId) -> bool {
    let goal = trace.event(second).thread;
    let mut threads: FxHashSet<ThreadId> = [trace.event(first).thread].into_iter().collect();
    let mut reached: FxHashSet<Meeting> = FxHashSet::default();
    for id in between(first, second) {
        let event = trace.event(id);
        let meetings = meetings(&event);
        let mut at = meetings.iter().flatten();
        if at.clone().any(|meeting| reached.contains(meeting)) {
            threads.insert(event.thread);
        }
        // A plain access is ordered by others, but orders nothing.
        let is_plain = matches!(event.op, Op::Read { .. } | Op::Write { .. }) && !event.unexplained;
        if !is_plain && threads.contains(&event.thread) {
            reached.extend(at.by_ref());
        }
        if threads.contains(&goal) {
            return true;
        }
    }
    false
}

fn between(first: EventId, second: EventId) -> impl Iterator<Item = EventId> {
    (first.index() + 1..second.index()).filter_map(EventId::from_index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(text: &str, first: u32, second: u32) -> Option<Vec<(u32, u32)>> {
        let trace = foretell_testkit::trace(text);
        match Observed::new(&trace, trace.id(first)?, trace.id(second)?, None)? {
            Observed::Ordered(links) => {
                Some(links.iter().map(|link| (link.from.event, link.to.event)).collect())
            }
            Observed::Unordered => Some(Vec::new()),
        }
    }

    #[test]
    fn a_lock_that_was_handed_on_is_named() {
        let text = "A|w(x)|1\nA|acq(l)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\n";
        assert_eq!(observed(text, 1, 6), Some(vec![(3, 4)]));
    }

    #[test]
    fn an_order_is_an_accident_if_the_witness_shows_another() {
        // C could take the lock first; that it starts B before B begins is no accident.
        let trace = foretell_testkit::trace(
            "C|r(y)|1\nA|w(x)|2\nA|acq(l)|3\nA|rel(l)|4\nC|acq(l)|5\nC|fork(B)|6\nB|begin|7\nB|w(x)|8\n",
        );
        let accidents = |witness: Option<&[u32]>| -> Vec<bool> {
            let (first, second) = (trace.id(2).unwrap(), trace.id(8).unwrap());
            match Observed::new(&trace, first, second, witness) {
                Some(Observed::Ordered(links)) => links.iter().map(|link| link.is_accident).collect(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(accidents(Some(&[1, 5, 6, 7, 2, 8])), [true, false]);
        assert_eq!(accidents(None), [false, false]);
    }

    #[test]
    fn a_chain_goes_over_other_threads() {
        let text = "A|w(x)|1\nA|acq(l)|2\nA|rel(l)|3\nC|acq(l)|4\nC|rel(l)|5\nC|v(s)|6\nB|p(s)|7\nB|w(x)|8\n";
        assert_eq!(observed(text, 1, 8), Some(vec![(3, 4), (6, 7)]));
    }

    #[test]
    fn readers_do_not_order_each_other() {
        let text = "A|w(x)|1\nA|racq(l)|2\nA|rrel(l)|3\nB|racq(l)|4\nB|rrel(l)|5\nB|w(x)|6\n";
        assert_eq!(observed(text, 1, 6), None, "nothing is said");
    }

    #[test]
    fn a_store_by_others_hides_what_was_published() {
        let start = "A|w(x)|1\nA|astore.rel(f,1)|2\n";
        let end = "B|aload.acq(f,1)|4\nB|w(x)|5\n";
        assert_eq!(observed(&format!("{start}{end}"), 1, 4), Some(vec![(2, 3)]));
        assert_eq!(observed(&format!("{start}C|astore.rlx(f,1)|3\n{end}"), 1, 5), None);
    }

    #[test]
    fn without_any_synchronisation_there_is_no_order() {
        assert_eq!(observed("A|w(x)|1\nA|r(y)|2\nB|r(y)|3\nB|w(x)|4\n", 1, 4), Some(vec![]));
        let forked =
            "M|fork(B)|0\nM|fork(A)|0\nA|begin|0\nA|w(x)|1\nA|acq(l)|2\nA|rel(l)|2\nB|begin|3\nB|w(x)|4\n";
        assert_eq!(observed(forked, 4, 8), Some(vec![]));
    }
}
