//! Traces of which it is made up which reads matter to what: at random, or as strictly as a trace without that is
//! taken.

use foretell_trace::{Dependence, EventId, Reads, Trace};

use crate::random::Random;

/// The trace with dependences that are drawn at random; the same seed gives the same ones.
///
/// # Panics
/// Never: what is drawn is of this trace.
pub fn at_random(seed: u64, trace: Trace) -> Trace {
    let mut random = Random::new(seed);
    let mut dependence = Dependence::new(trace.events().len());
    // For each thread, the sets of reads that values can be made of.
    let mut sets = vec![vec![Reads::NOTHING]; trace.thread_count()];
    for (id, event) in trace.iter() {
        let Some(access) = event.op.access() else { continue };
        let sets = &mut sets[event.thread.index()];
        if access.kind.reads() {
            sets.push(Reads::of(id));
            let own: Vec<EventId> = own_events(&trace, id).collect();
            // Mostly something later; seldom the read itself, and often nothing.
            let later = if random.once_in(10) { &own[..] } else { &own[1..] };
            if !later.is_empty() && !random.once_in(3) {
                dependence.steer(id, *random.pick(later));
            }
        }
        if access.kind.writes() && !random.once_in(5) {
            let both = [*random.pick(sets), *random.pick(sets)];
            let set = dependence.unite(both[0], both[1]);
            dependence.set_value(id, set);
            sets.push(set);
        }
    }
    completed(trace, dependence)
}

/// The trace with the dependences that are assumed of a trace that tells of none: a read steers the next branch, or
/// what comes next if there are no branches at all, and what is written depends on everything.
///
/// # Panics
/// Never: this can be said of every trace.
pub fn strictly(trace: Trace) -> Trace {
    let mut dependence = Dependence::new(trace.events().len());
    for (id, event) in trace.iter() {
        if event.op.access().is_some_and(|access| access.kind.reads())
            && let Some(next) = own_events(&trace, id).nth(1)
        {
            // Where there are branches, nothing is steered before the next one.
            dependence.steer(id, next);
        }
    }
    completed(trace, dependence)
}

/// The event and those after it in its thread.
fn own_events(trace: &Trace, event: EventId) -> impl Iterator<Item = EventId> {
    let later = (event.index()..).zip(&trace.events()[event.index()..]);
    let thread = trace.event(event).thread;
    later.filter(move |(_, other)| other.thread == thread).filter_map(|(index, _)| EventId::from_index(index))
}

fn completed(trace: Trace, dependence: Dependence) -> Trace {
    trace.with_dependence(dependence).unwrap_or_else(|misfit| panic!("{misfit}"))
}
