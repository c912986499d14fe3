//! Necessary reads: which reads later events depend on, by the flow of a recorded run.
//!
//! Paper: *Reduce Dependence for Sound Concurrency Bug Prediction* (ReconP): the necessary consistent reads of an event
//! are those that must see what they saw for the event to happen as it did. A read steers the first decision or address
//! that is computed from it, and is part of the values that are.
//!
//! **Changed.** The paper asks for the addresses of earlier writes only; here every address steers, since a read of
//! what is not there would be the end of its thread. Values are followed through the whole run, calls and recursion
//! included, as the flow has them in static single assignment form; [`mod@crate::partial`] gives up on some, as the
//! paper does.
//!
//! **Guarantee.** A thread some of whose reads see something else does what it did up to the first event that one of
//! these steers, and each write before that writes what it wrote unless its value depends on one of these. That holds
//! if the flow is right: whatever a thread does because of what it read follows a recorded decision or address, and
//! what it passes to a thread that it starts is decided before that starts.
//!
//! **May miss** that a decision would have gone the same way, or that its ways meet again: a decision matters to
//! everything after it.

use foretell_trace::{Dependence, EventId, Op, Reads, Trace};

use crate::flow::{Flow, Node, NodeId};

/// Which reads of the trace matter to what, by its flow.
pub fn necessary(trace: &Trace, flow: &Flow) -> Dependence {
    let mut dependence = Dependence::new(trace.events().len());
    steer_by_flow(trace, flow, &mut dependence);
    set_values(trace, flow, &mut dependence);
    dependence
}

/// The necessary consistent reads of an event: those before it that steer it or something before it, and those that are
/// in the value that it writes.
pub fn necessary_reads(trace: &Trace, dependence: &Dependence, event: EventId) -> Vec<EventId> {
    let Some(of) = trace.events().get(event.index()) else { return Vec::new() };
    let writes = of.op.access().is_some_and(|access| access.kind.writes());
    let value = if writes { dependence.value_of(event) } else { Reads::NOTHING };
    let in_value = dependence.reads(value);
    let before = trace.iter().take(event.index()).filter(|(_, earlier)| earlier.thread == of.thread);
    let reads = before.filter(|(_, earlier)| earlier.op.access().is_some_and(|access| access.kind.reads()));
    let matters = |read: EventId| {
        dependence.steered_by(read).is_some_and(|steered| steered <= event)
            || in_value.as_ref().is_none_or(|reads| reads.binary_search(&read).is_ok())
    };
    reads.map(|(id, _)| id).filter(|&id| matters(id)).collect()
}

/// Reads steer the first event that decides on, or has its address from, what is computed from them.
fn steer_by_flow(trace: &Trace, flow: &Flow, dependence: &mut Dependence) {
    let mut first: Vec<Option<EventId>> = vec![None; flow.node_count()];
    for (id, event) in trace.iter() {
        let used = flow.of(id);
        let decided = used.value.filter(|_| event.op == Op::Branch);
        for node in [decided, used.address].into_iter().flatten() {
            first[node.index()].get_or_insert(id);
        }
    }
    // The operands of a value come before it.
    for node in flow.nodes().rev() {
        let Some(steered) = first[node.index()] else { continue };
        if let Node::Read(read) = flow.node(node) {
            dependence.steer(read, steered);
        }
        for part in flow.node(node).parts() {
            let earlier = first[part.index()].map_or(steered, |event| event.min(steered));
            first[part.index()] = Some(earlier);
        }
    }
}

/// The reads that a value depends on, all of one thread.
#[derive(Clone, Copy)]
struct Origin {
    reads: Reads,
    /// The last of them.
    newest: EventId,
}

/// Says for each write what its value depends on.
fn set_values(trace: &Trace, flow: &Flow, dependence: &mut Dependence) {
    let writes = |event: EventId| trace.event(event).op.access().is_some_and(|access| access.kind.writes());
    let written: Vec<(EventId, NodeId)> =
        trace.iter().filter_map(|(id, _)| Some((id, flow.of(id).value.filter(|_| writes(id))?))).collect();
    let wanted = with_parts(flow, written.iter().map(|&(_, value)| value));
    let mut origins: Vec<Option<Origin>> = vec![None; flow.node_count()];
    for node in flow.nodes().filter(|node| wanted[node.index()]) {
        origins[node.index()] = match flow.node(node) {
            Node::Read(read) => Some(Origin { reads: Reads::of(read), newest: read }),
            other => {
                let parts = other.parts().filter_map(|part| origins[part.index()]);
                parts.reduce(|first, second| unite(trace, dependence, first, second))
            }
        };
    }
    for (event, value) in written {
        // The arguments that the thread was started with do not count: had that been something else, it would not have
        // been.
        let own = origins[value.index()]
            .filter(|origin| trace.event(origin.newest).thread == trace.event(event).thread);
        dependence.set_value(event, own.map_or(Reads::NOTHING, |origin| origin.reads));
    }
}

/// The operands of these values.
fn with_parts(flow: &Flow, values: impl Iterator<Item = NodeId>) -> Vec<bool> {
    let mut wanted = vec![false; flow.node_count()];
    for value in values {
        wanted[value.index()] = true;
    }
    for node in flow.nodes().rev() {
        if wanted[node.index()] {
            for part in flow.node(node).parts() {
                wanted[part.index()] = true;
            }
        }
    }
    wanted
}

/// What depends on both. If they are of two threads, the one with the older reads was an argument of the other when
/// that was started, which is decided already.
fn unite(trace: &Trace, dependence: &mut Dependence, first: Origin, second: Origin) -> Origin {
    let (older, newer) = if first.newest < second.newest { (first, second) } else { (second, first) };
    let of_one_thread = trace.event(older.newest).thread == trace.event(newer.newest).thread;
    let reads = if of_one_thread { dependence.unite(older.reads, newer.reads) } else { newer.reads };
    Origin { reads, newest: newer.newest }
}

#[cfg(test)]
mod tests;
