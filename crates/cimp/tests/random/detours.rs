//! Whenever all that a detour demands of a thread holds in an execution, the thread does what the detour shows.

use std::collections::HashMap;

use foretell_cimp::record::detours::{Detour, Limits, detours};
use foretell_cimp::record::{self, Ending, Run};
use foretell_cimp::schedule::Random;
use foretell_testkit::program::Shape;
use foretell_trace::values::{Binary, Demand, Demanded, Term, TermId, Unary, Values};
use foretell_trace::{Event, EventId, Op, ThreadId, Trace};

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

/// Follows a thread of the detour as far as its demands hold in the execution; gives how many events that are added were among that.
fn follow(detour: &Detour, thread: ThreadId, execution: &Run) -> usize {
    let trace = &detour.trace;
    let there = &execution.trace;
    let name = trace.names().threads.name(thread);
    let does = there.names().threads.get(name).map_or_else(Vec::new, |thread| of_thread(there, thread));
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
