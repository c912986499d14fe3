//! The axioms that a certificate may state, and the clause that each stands for.
//!
//! `docs/proof-format.md` says what each means and when it holds. The checker makes the clauses by code of its own.

use foretell_trace::{EventId, Op, ops};

use crate::closure::ENTRY;
use crate::index::NONE;
use crate::window::{Domain, Window};

/// A statement about a schedule. Events are those of a window that is the whole trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Atom {
    /// The event runs.
    Runs(u32),
    /// The first event, of the smaller number, comes before the second.
    Before(u32, u32),
    /// The read is consistent.
    Consistent(u32),
    /// The read is consistent and sees this write, or [`ENTRY`].
    Sees(u32, u32),
    /// The failed attempt runs inside the section that begins with this event.
    Finds(u32, u32),
    /// The notification runs between a wait and this return from it.
    Wakes(u32, u32),
}

/// A statement or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Literal {
    pub(crate) atom: Atom,
    pub(crate) positive: bool,
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal { positive: !self.positive, ..self }
    }
}

impl From<Atom> for Literal {
    fn from(atom: Atom) -> Literal {
        Literal { atom, positive: true }
    }
}

impl Literal {
    pub(crate) fn runs(event: u32) -> Literal {
        Atom::Runs(event).into()
    }

    pub(crate) fn before(from: u32, to: u32) -> Literal {
        if from < to { Atom::Before(from, to).into() } else { !Literal::from(Atom::Before(to, from)) }
    }

    /// The events that it puts in order, if it is about that.
    pub(crate) fn ordered(self) -> Option<(u32, u32)> {
        match (self.atom, self.positive) {
            (Atom::Before(from, to), true) => Some((from, to)),
            (Atom::Before(from, to), false) => Some((to, from)),
            _ => None,
        }
    }
}

/// Why a read does not see some writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Exclusion {
    /// Those at or after this event of their thread come after the read.
    Later(u32),
    /// Those at or after this event of their thread do not run.
    Absent(u32),
    /// Those up to the first event, of its thread, are overwritten by the second.
    Overwritten(u32, u32),
    /// What was there at first is overwritten.
    NotInitial(u32),
}

/// What holds in every schedule that reaches the goal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Axiom {
    Need(u32, u32),
    Prefix(u32, u32),
    Absent(u32),
    Reached(u32),
    Unexplained,
    Pin { event: u32, read: u32 },
    Pinned(u32),
    Choice { read: u32, exclusions: Box<[Exclusion]> },
    Sees { read: u32, write: u32 },
    SourceRuns { read: u32, write: u32 },
    Between { read: u32, write: u32, other: u32 },
    Concrete { read: u32, write: u32, other: u32 },
    Exclusion(u32, u32),
    Attempt(u32),
    HasBegun { attempt: u32, begin: u32 },
    IsOpen { attempt: u32, begin: u32 },
    Free { access: u32, free: u32 },
    Permits { wait: u32, waits: Box<[u32]>, posts: Box<[u32]> },
    Notified(u32),
    Wakeups { back: Box<[u32]>, shared: Box<[u32]> },
    AfterWait { notification: u32, woken: u32 },
    BeforeReturn { notification: u32, woken: u32 },
    WakerRuns { notification: u32, woken: u32 },
    Arrivals { depart: u32, earlier: Box<[u32]>, came: Box<[u32]> },
}

impl Axiom {
    /// Its clause, without what the order of a thread decides to be false.
    pub(crate) fn clause(&self, window: &Window<'_>) -> Vec<Literal> {
        let mut clause = self.literals(window);
        clause.retain(|literal| !literal.ordered().is_some_and(|(a, b)| is_thread_order(window, b, a)));
        clause.dedup();
        clause
    }

    fn literals(&self, window: &Window<'_>) -> Vec<Literal> {
        let (runs, before) = (Literal::runs, Literal::before);
        let is = |atom: Atom| Literal::from(atom);
        match *self {
            Axiom::Need(from, to) => vec![before(from, to)],
            Axiom::Prefix(from, to) => vec![!before(from, to), !runs(to), runs(from)],
            Axiom::Absent(event) => vec![!runs(event)],
            Axiom::Reached(event) => vec![runs(event)],
            Axiom::Unexplained => Vec::new(),
            Axiom::Pin { event, read } => vec![!runs(event), is(Atom::Consistent(read))],
            Axiom::Pinned(read) => vec![is(Atom::Consistent(read))],
            Axiom::Choice { read, ref exclusions } => choice(window, read, exclusions),
            Axiom::Sees { read, write } => vec![!is(Atom::Sees(read, write)), before(write, read)],
            Axiom::SourceRuns { read, write } => vec![!is(Atom::Sees(read, write)), runs(write)],
            Axiom::Between { read, write: ENTRY, other } => {
                vec![!is(Atom::Sees(read, ENTRY)), before(read, other)]
            }
            Axiom::Between { read, write, other } => {
                vec![!is(Atom::Sees(read, write)), before(read, other), before(other, write)]
            }
            Axiom::Concrete { read, write, other } => {
                vec![!is(Atom::Sees(read, write)), is(Atom::Consistent(other))]
            }
            Axiom::Exclusion(one, other) => {
                let mut clause = vec![!runs(one), !runs(other)];
                for (first, second) in [(one, other), (other, one)] {
                    clause.extend(section_end(window, first).map(|end| before(end, second)));
                }
                clause
            }
            Axiom::Attempt(attempt) => {
                let sections = sections_that_fail(window, attempt);
                let finds = sections.map(|begin| is(Atom::Finds(attempt, begin)));
                std::iter::once(!runs(attempt)).chain(finds).collect()
            }
            Axiom::HasBegun { attempt, begin } => {
                vec![!is(Atom::Finds(attempt, begin)), before(begin, attempt)]
            }
            Axiom::IsOpen { attempt, begin } => {
                let end = section_end(window, begin).map(|end| before(attempt, end));
                std::iter::once(!is(Atom::Finds(attempt, begin))).chain(end).collect()
            }
            Axiom::Free { access, free } => vec![!runs(access), !runs(free), before(access, free)],
            Axiom::Permits { wait, ref waits, ref posts } => {
                let later = waits.iter().map(|&other| before(wait, other));
                let earlier = posts.iter().map(|&post| before(post, wait));
                std::iter::once(!runs(wait)).chain(later).chain(earlier).collect()
            }
            Axiom::Notified(woken) => {
                let order = window.before(woken).zip(window.notifications.get(&woken));
                let order = order.map(|(wait, &notification)| before(wait, notification));
                std::iter::once(!runs(woken)).chain(order).collect()
            }
            Axiom::Wakeups { ref back, ref shared } => wakeups(window, back, shared),
            Axiom::AfterWait { notification, woken } => {
                let order = window.before(woken).map(|wait| before(wait, notification));
                std::iter::once(!is(Atom::Wakes(notification, woken))).chain(order).collect()
            }
            Axiom::BeforeReturn { notification, woken } => {
                vec![!is(Atom::Wakes(notification, woken)), before(notification, woken)]
            }
            Axiom::WakerRuns { notification, woken } => {
                vec![!is(Atom::Wakes(notification, woken)), runs(notification)]
            }
            Axiom::Arrivals { depart, ref earlier, ref came } => arrivals(window, depart, earlier, came),
        }
    }
}

/// Whether both are of one thread, and the first comes before the second or is it.
pub(crate) fn is_thread_order(window: &Window<'_>, first: u32, second: u32) -> bool {
    window.thread[first as usize] == window.thread[second as usize] && first <= second
}

/// The end of a section in the trace, whether it can run or not.
pub(crate) fn section_end(window: &Window<'_>, begin: u32) -> Option<u32> {
    Some(window.index.section_end(begin)).filter(|&end| end != NONE)
}

fn choice(window: &Window<'_>, read: u32, exclusions: &[Exclusion]) -> Vec<Literal> {
    let mut clause = vec![!Literal::from(Atom::Consistent(read))];
    for &exclusion in exclusions {
        match exclusion {
            Exclusion::Later(event) if event == read => {}
            Exclusion::Later(event) => clause.push(Literal::before(event, read)),
            Exclusion::Absent(event) => clause.push(Literal::runs(event)),
            Exclusion::Overwritten(event, other) => {
                clause.push(Literal::before(read, other));
                clause.extend((event != other).then(|| Literal::before(other, event)));
            }
            Exclusion::NotInitial(other) => clause.push(Literal::before(read, other)),
        }
    }
    let is_left = |&source: &u32| !exclusions.iter().any(|&exclusion| excludes(window, exclusion, source));
    let left = sources(window, read).into_iter().filter(is_left);
    clause.extend(left.map(|source| Literal::from(Atom::Sees(read, source))));
    clause
}

/// All that leaves what the read saw, or [`ENTRY`].
pub(crate) fn sources(window: &Window<'_>, read: u32) -> Vec<u32> {
    match window.domain(read) {
        Domain::Free | Domain::Beyond { .. } => Vec::new(),
        Domain::Write(write) => vec![write],
        Domain::Entry => vec![ENTRY],
        Domain::Group { group, entry } => {
            let writes = window.group(group).iter().copied().filter(|&write| write != read);
            writes.chain(entry.then_some(ENTRY)).collect()
        }
    }
}

pub(crate) fn excludes(window: &Window<'_>, exclusion: Exclusion, source: u32) -> bool {
    match exclusion {
        Exclusion::NotInitial(_) => source == ENTRY,
        _ if source == ENTRY => false,
        Exclusion::Later(event) | Exclusion::Absent(event) => is_thread_order(window, event, source),
        Exclusion::Overwritten(event, other) => source != other && is_thread_order(window, source, event),
    }
}

/// The sections inside of which the attempt fails, by their beginnings.
fn sections_that_fail(window: &Window<'_>, attempt: u32) -> impl Iterator<Item = u32> {
    let attempt = window.attempts.iter().find(|of| of.event == attempt);
    let sections = attempt.into_iter().flat_map(|attempt| {
        let all = window.locks[attempt.lock as usize].sections.iter();
        all.filter(|of| attempt.mode.excludes(of.1)).flat_map(|of| &of.2)
    });
    sections.map(|&number| window.sections[number as usize].acquire)
}

fn wakeups(window: &Window<'_>, back: &[u32], shared: &[u32]) -> Vec<Literal> {
    let mut clause = Vec::new();
    for &event in back {
        clause.push(!Literal::runs(event));
        let Op::Woken { cond, .. } = window.op(event) else { continue };
        for other in 0..window.len() {
            let notifies = [Op::Notify(cond), Op::NotifyAll(cond)].contains(&window.op(other));
            let is_own = window.thread[other as usize] == window.thread[event as usize];
            if notifies && !is_own && !shared.contains(&other) {
                clause.push(Atom::Wakes(other, event).into());
            }
        }
    }
    clause
}

fn arrivals(window: &Window<'_>, depart: u32, earlier: &[u32], came: &[u32]) -> Vec<Literal> {
    let Op::Depart(barrier) = window.op(depart) else { return Vec::new() };
    let mut clause = vec![!Literal::runs(depart)];
    let own = window.index.arrival_of(depart);
    clause.extend(earlier.iter().map(|&other| Literal::before(own, other)));
    let all = (0..window.len()).filter(|&event| window.op(event) == Op::Arrive(barrier));
    clause.extend(all.filter(|event| !came.contains(event)).map(|event| Literal::before(event, depart)));
    clause
}

/// Whether the event is one of those that come next in the end, or takes away what they access.
pub(crate) fn is_absent(window: &Window<'_>, event: u32) -> bool {
    let accessed = |&next: &u32| window.op(next).access().map(|access| access.var);
    match window.op(event) {
        _ if window.next.contains(&event) => true,
        Op::Free(var) => window.next.iter().any(|next| accessed(next) == Some(var)),
        Op::Fence { .. } | Op::Alloc(_) => false,
        ops!(accesses | locks | control | semaphores | conditions | barriers | labels) => false,
    }
}

/// The number of an event, from 1.
pub(crate) fn number(event: u32) -> u32 {
    EventId::from_index(event as usize).map_or(0, EventId::number)
}
