//! The circles of threads that hold each other up in one state of the machine.

use foretell_trace::{EventId, Op, ThreadId, Trace};

use crate::machine::Machine;

/// A deadlock: what its threads wait for, sorted; and the end of the thread that took the lock of the only one with
/// it, if that is how it came about.
pub type Circle = (Vec<EventId>, Option<EventId>);

/// A thread that cannot take its next step.
struct Waiting {
    thread: ThreadId,
    event: EventId,
    held_up_by: Vec<ThreadId>,
}

/// All of them.
pub(super) fn circles(trace: &Trace, machine: &Machine<'_>) -> Vec<Circle> {
    let waiting: Vec<Waiting> = trace
        .threads()
        .filter(|&thread| machine.could_wait(thread).is_ok())
        .filter_map(|thread| {
            Some(Waiting { thread, event: machine.next(thread)?, held_up_by: machine.held_up_by(thread) })
        })
        .collect();
    let mut found = Vec::new();
    for (place, one) in waiting.iter().enumerate() {
        for &holder in &one.held_up_by {
            let end = ended(trace, machine, holder).map(|end| (vec![one.event], Some(end)));
            found.extend(end);
        }
        // Each circle is gone around from its first thread.
        go_around(&waiting[place..], &mut vec![one], &mut found);
    }
    found
}

/// The end of the thread, if it has run.
fn ended(trace: &Trace, machine: &Machine<'_>, thread: ThreadId) -> Option<EventId> {
    let mut ends = trace.iter().filter(|(_, event)| event.thread == thread && event.op == Op::End);
    ends.next().map(|(end, _)| end).filter(|&end| machine.has_run(end))
}

fn go_around<'w>(waiting: &'w [Waiting], way: &mut Vec<&'w Waiting>, found: &mut Vec<Circle>) {
    let (Some(&first), Some(&last)) = (way.first(), way.last()) else { return };
    if way.len() > 1 && last.held_up_by.contains(&first.thread) {
        let mut events: Vec<EventId> = way.iter().map(|on_it| on_it.event).collect();
        events.sort_unstable();
        found.push((events, None));
    }
    for next in waiting {
        let is_new = way.iter().all(|on_it| on_it.thread != next.thread);
        if is_new && last.held_up_by.contains(&next.thread) {
            way.push(next);
            go_around(waiting, way, found);
            way.pop();
        }
    }
}
