//! Whenever all that a detour demands of a thread holds in an execution, the thread does what the detour shows. And
//! whatever order of a detour's events keeps to the demands is an execution of the program.

use std::collections::{HashMap, HashSet};

use foretell_cimp::record::detours::{Detour, Limits, detours};
use foretell_cimp::record::{self, Ending, Run, confirm};
use foretell_cimp::scheduler::Random;
use foretell_testkit::program::Shape;
use foretell_trace::values::{Binary, Demand, Demanded, Term, TermId, Unary, Values};
use foretell_trace::{Event, EventId, LockId, Op, SemId, ThreadId, Trace, VarId};

use super::{for_each, run};

/// A number, or a name as traces write it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Known {
    Number(u64),
    Name(String),
}

impl Known {
    fn of(text: &str) -> Known {
        text.parse::<i64>()
            .map_or_else(|_| Known::Name(text.to_owned()), |number| Known::Number(number.cast_unsigned()))
    }

    fn is_zero(&self) -> bool {
        *self == Known::Number(0)
    }

    fn number(&self) -> Option<i64> {
        match self {
            Known::Number(number) => Some(number.cast_signed()),
            Known::Name(_) => None,
        }
    }
}

/// What terms are, given what the reads of a thread have seen so far.
struct Evaluation<'t> {
    trace: &'t Trace,
    values: &'t Values,
    seen: HashMap<EventId, Known>,
}

impl Evaluation<'_> {
    fn term(&self, id: TermId) -> Option<Known> {
        match self.values.term(id) {
            Term::Number(number) => Some(Known::Number(number)),
            Term::Name(name) => Some(Known::of(&self.trace.names().value_text(name))),
            Term::Read(event) => self.seen.get(&event).cloned(),
            Term::Unary { op: Unary::IsZero, of, .. } => Some(Known::Number(self.term(of)?.is_zero().into())),
            Term::Binary { op, left, right, .. } => binary(op, &self.term(left)?, &self.term(right)?),
            other => panic!("no program has {other:?}"),
        }
    }

    fn holds(&self, demand: &Demand) -> bool {
        let wanted = match demand.value {
            Demanded::Number(number) => Known::Number(number),
            Demanded::Name(name) => Known::of(&self.trace.names().value_text(name)),
        };
        self.term(demand.term) == Some(wanted)
    }
}

fn binary(op: Binary, left: &Known, right: &Known) -> Option<Known> {
    if op == Binary::Equal {
        return Some(Known::Number((left == right).into()));
    }
    let (left, right) = (left.number()?, right.number()?);
    let number = match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::DivideSigned => left.checked_div(right)?,
        Binary::RemainderSigned => left.checked_rem(right)?,
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::LessSigned => (left < right).into(),
        other => panic!("no program has {other:?}"),
    };
    Some(Known::Number(number.cast_unsigned()))
}

fn of_thread(trace: &Trace, thread: ThreadId) -> Vec<(EventId, Event)> {
    trace.iter().filter(|(_, event)| event.thread == thread).collect()
}

/// What an event is, but for values and for whether a lock is taken once more.
fn deed(trace: &Trace, event: Event) -> String {
    let names = trace.names();
    let what = match event.op {
        Op::Read { var, .. } | Op::Load { var, .. } => format!("r {}", names.vars.name(var)),
        Op::Write { var, .. } | Op::Store { var, .. } => format!("w {}", names.vars.name(var)),
        Op::Fork(thread) => format!("fork {}", names.threads.name(thread)),
        Op::Join(thread) => format!("join {}", names.threads.name(thread)),
        Op::Acquire(lock) | Op::AcquireAgain(lock) => format!("acq {}", names.locks.name(lock)),
        Op::Release(lock) | Op::ReleaseAgain(lock) => format!("rel {}", names.locks.name(lock)),
        Op::SemWait(sem) => format!("p {}", names.sems.name(sem)),
        Op::SemPost(sem) => format!("v {}", names.sems.name(sem)),
        Op::Wait { cond, .. } => format!("wait {}", names.conds.name(cond)),
        Op::Woken { cond, .. } => format!("woken {}", names.conds.name(cond)),
        Op::Notify(cond) => format!("notify {}", names.conds.name(cond)),
        Op::NotifyAll(cond) => format!("notify all {}", names.conds.name(cond)),
        other => format!("{other:?}"),
    };
    format!("{what} at {}", names.loc_text(event.loc))
}

/// Follows a thread of the detour as far as its demands hold in the execution; gives how many events that are added
/// were among that.
fn follow(detour: &Detour, thread: ThreadId, execution: &Run) -> usize {
    let trace = &detour.trace;
    let there = &execution.trace;
    let name = trace.names().threads.name(thread);
    // Not every execution starts every thread.
    let Some(same) = there.names().threads.get(name) else { return 0 };
    let does = of_thread(there, same);
    let values = trace.values().expect("a detour tells of its values");
    let mut known = Evaluation { trace, values, seen: HashMap::new() };
    let mut added = 0;
    for (place, (id, event)) in of_thread(trace, thread).into_iter().enumerate() {
        if !values.demands(id).iter().all(|demand| known.holds(demand)) {
            break;
        }
        let Some(&(_, instead)) = does.get(place) else {
            assert_ne!(
                execution.ending,
                Ending::Finished,
                "{name} has ended instead of {}",
                deed(trace, event)
            );
            break;
        };
        assert_eq!(deed(trace, event), deed(there, instead), "{name}, event {id}");
        let text = |value| Known::of(&there.names().value_text(value));
        if let Some(value) = instead.op.value_read() {
            known.seen.insert(id, text(value));
        }
        if let Some(term) = values.written(id) {
            assert_eq!(known.term(term), instead.op.value_written().map(text), "{name}, event {id}");
        }
        added += usize::from(detour.added.contains(&id));
    }
    added
}

#[test]
fn a_thread_that_goes_another_way_does_what_the_detour_shows() {
    let (mut made, mut followed) = (0, 0);
    for_each(600, Shape::any, |seed, _, program| {
        let recorded = run(program, seed);
        let executions: Vec<Run> = (0..20)
            .map(|other| {
                let mut random = Random::new(seed * 100 + other);
                record::run(program, &mut random, &record::Limits::default())
                    .expect("every execution is a trace")
            })
            .collect();
        for detour in
            detours(program, &recorded, Limits::default()).expect("the run can be repeated").take(40)
        {
            let detour = detour.expect("every detour is a trace");
            made += 1;
            for execution in &executions {
                let threads = detour
                    .trace
                    .threads()
                    .filter(|&thread| !detour.trace.names().threads.name(thread).starts_with("init"));
                followed += threads.map(|thread| follow(&detour, thread, execution)).sum::<usize>();
            }
        }
    });
    assert!(made > 500 && followed > 2000, "{made} {followed}");
}

/// An order of a detour's events that comes about step by step. No thread returns from a wait: which one would depends
/// on the future.
struct Order<'t> {
    known: Evaluation<'t>,
    taken: Vec<EventId>,
    left: Vec<Vec<(EventId, Event)>>,
    memory: HashMap<VarId, Known>,
    locks: HashMap<LockId, ThreadId>,
    permits: HashMap<SemId, i64>,
    unstarted: HashSet<ThreadId>,
}

impl<'t> Order<'t> {
    fn new(trace: &'t Trace) -> Order<'t> {
        let values = trace.values().expect("a detour tells of its values");
        let mut order = Order {
            known: Evaluation { trace, values, seen: HashMap::new() },
            taken: Vec::new(),
            left: trace.threads().map(|thread| of_thread(trace, thread)).collect(),
            memory: HashMap::new(),
            locks: HashMap::new(),
            permits: HashMap::new(),
            unstarted: HashSet::new(),
        };
        let mut used: HashMap<SemId, i64> = HashMap::new();
        for event in trace.events() {
            match event.op {
                Op::Fork(child) => _ = order.unstarted.insert(child),
                Op::SemInit { sem, .. } => _ = used.insert(sem, i64::MIN / 2),
                Op::SemPost(sem) => *used.entry(sem).or_default() -= 1,
                Op::SemWait(sem) => {
                    let used = used.entry(sem).or_default();
                    *used += 1;
                    let least = order.permits.entry(sem).or_default();
                    *least = (*least).max(*used);
                }
                _ => {}
            }
        }
        order.left.iter_mut().for_each(|events| events.reverse());
        order
    }

    /// The next event of a thread, if its demands hold.
    fn next(&self, thread: ThreadId) -> Option<(EventId, Event)> {
        let &(id, event) = self.left[thread.index()].last()?;
        let holds = self.known.values.demands(id).iter().all(|demand| self.known.holds(demand));
        (holds && !self.unstarted.contains(&thread)).then_some((id, event))
    }

    /// Takes the next event of a thread, if that is possible.
    fn take(&mut self, thread: ThreadId) {
        let Some((id, event)) = self.next(thread) else { return };
        let can = match event.op {
            Op::Acquire(lock) => !self.locks.contains_key(&lock),
            Op::SemWait(sem) => self.permits.get(&sem).is_some_and(|&permits| permits > 0),
            Op::Join(other) => self.left[other.index()].is_empty() && !self.unstarted.contains(&other),
            Op::Woken { .. } => false,
            _ => true,
        };
        if !can {
            return;
        }
        match event.op {
            Op::Acquire(lock) => _ = self.locks.insert(lock, thread),
            Op::Release(lock) | Op::Wait { lock, .. } => _ = self.locks.remove(&lock),
            Op::SemInit { sem, permits } => _ = self.permits.insert(sem, permits.into()),
            Op::SemWait(sem) => *self.permits.entry(sem).or_default() -= 1,
            Op::SemPost(sem) => *self.permits.entry(sem).or_default() += 1,
            Op::Fork(child) => _ = self.unstarted.remove(&child),
            Op::Read { var, .. } | Op::Load { var, .. } => {
                let seen = self.memory.get(&var).cloned().unwrap_or(Known::Number(0));
                self.known.seen.insert(id, seen);
            }
            Op::Write { var, .. } | Op::Store { var, .. } => {
                let term = self.known.values.written(id).expect("every write has a term");
                let value = self.known.term(term).expect("of reads that are over");
                self.memory.insert(var, value);
            }
            _ => {}
        }
        self.taken.push(id);
        self.left[thread.index()].pop();
    }

    /// Pairs that race now.
    fn races(&self) -> Vec<[EventId; 2]> {
        let next: Vec<_> = self.known.trace.threads().filter_map(|thread| self.next(thread)).collect();
        let mut races = Vec::new();
        for (place, &(first, one)) in next.iter().enumerate() {
            for &(second, other) in &next[place + 1..] {
                if one
                    .op
                    .access()
                    .zip(other.op.access())
                    .is_some_and(|(one, other)| one.conflicts_with(other))
                {
                    races.push([first, second]);
                }
            }
        }
        races
    }
}

#[test]
fn races_on_a_detour_are_races_of_the_program() {
    let mut confirmed = 0;
    for_each(600, Shape::any, |seed, _, program| {
        let recorded = run(program, seed);
        let mut random = seed;
        let mut pick = move |among: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from((random >> 33) % among as u64).unwrap()
        };
        for detour in
            detours(program, &recorded, Limits::default()).expect("the run can be repeated").take(20)
        {
            let detour = detour.expect("every detour is a trace");
            let threads: Vec<ThreadId> = detour.trace.threads().collect();
            for _ in 0..30 {
                let mut order = Order::new(&detour.trace);
                for _ in 0..4 * detour.trace.events().len() {
                    order.take(threads[pick(threads.len())]);
                    if !order.taken.contains(&detour.branch) {
                        continue;
                    }
                    for race in order.races() {
                        let witness = [order.taken.as_slice(), race.as_slice()].concat();
                        assert_eq!(confirm(program, &detour.trace, &witness), Ok(()), "{race:?}");
                        confirmed += 1;
                    }
                }
            }
        }
    });
    assert!(confirmed > 2000, "{confirmed}");
}
