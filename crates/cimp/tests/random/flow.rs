//! What a flow says of a value is what the program computed.

use foretell_cimp::record::Run;
use foretell_depend::{Binary, Node, NodeId, Unary};
use foretell_testkit::program::{Features, Shape};
use foretell_trace::{EventId, Op, Value};

use super::{for_each, run};

/// Without references: those are no matter of arithmetic.
pub(super) fn numbers_only(seed: u64) -> Shape {
    let shape = Shape::any(seed);
    Shape { features: Features { cells: false, ..shape.features }, ..shape }
}

fn number(run: &Run, value: Option<Value>) -> i64 {
    let text = run.trace.names().value_text(value.expect("values are recorded"));
    text.parse().expect("a number")
}

/// Computes the value anew from what was read.
fn evaluate(run: &Run, node: NodeId) -> i64 {
    match run.flow.node(node) {
        Node::Constant(number) => number,
        Node::Read(event) => number(run, run.trace.event(event).op.value_read()),
        Node::Unary(Unary::Negate, of) => evaluate(run, of).wrapping_neg(),
        Node::Unary(Unary::Not, of) => i64::from(evaluate(run, of) == 0),
        Node::Binary(op, left, right) => binary(op, evaluate(run, left), evaluate(run, right)),
        Node::Chosen { value, .. } => evaluate(run, value),
    }
}

fn binary(op: Binary, left: i64, right: i64) -> i64 {
    match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide => left.wrapping_div(right),
        Binary::Remainder => left.wrapping_rem(right),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::Less => i64::from(left < right),
        Binary::LessOrEqual => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::GreaterOrEqual => i64::from(left >= right),
        Binary::And => i64::from(left != 0 && right != 0),
        Binary::Or => i64::from(left != 0 || right != 0),
    }
}

/// The index in the name of the variable or lock that an operation is about.
fn index(run: &Run, op: Op) -> Option<i64> {
    let names = run.trace.names();
    let name = match (op.access(), op) {
        (Some(access), _) => names.vars.name(access.var),
        (None, Op::Acquire(lock) | Op::AcquireAgain(lock) | Op::Release(lock) | Op::ReleaseAgain(lock)) => {
            names.locks.name(lock)
        }
        _ => return None,
    };
    name.split_once('[')?.1.strip_suffix(']')?.parse().ok()
}

#[test]
fn values_and_places_follow_from_what_was_read() {
    let (mut computed, mut chosen, mut indices, mut decided) = (0, 0, 0, 0);
    for_each(4000, numbers_only, |seed, _, program| {
        let run = run(program, seed);
        for (id, event) in run.trace.iter() {
            let uses = run.flow.of(id);
            if let (Some(node), Some(_)) = (uses.value, event.op.value_written()) {
                assert_eq!(evaluate(&run, node), number(&run, event.op.value_written()), "event {id}");
                computed += usize::from(!matches!(run.flow.node(node), Node::Constant(_)));
                chosen += usize::from(matches!(run.flow.node(node), Node::Chosen { .. }));
            }
            if let (Some(node), Some(index)) = (uses.address, index(&run, event.op)) {
                assert_eq!(evaluate(&run, node), index, "event {id}");
                indices += 1;
            }
            if event.op == Op::Branch {
                let Some(node) = uses.value else {
                    // It says that there were no others.
                    assert_eq!(id.index() + 1, run.trace.events().len(), "every decision is on something");
                    continue;
                };
                assert!(!run.flow.reads(node).is_empty(), "event {id} depends on no read");
                decided += 1;
            }
            assert!(dependences_come_before(&run, id), "event {id}");
        }
    });
    assert!(
        computed > 1000 && chosen > 200 && indices > 500 && decided > 1000,
        "{computed} {chosen} {indices} {decided}"
    );
}

fn dependences_come_before(run: &Run, event: EventId) -> bool {
    let uses = run.flow.of(event);
    let reads = uses.value.into_iter().chain(uses.address).flat_map(|node| run.flow.reads(node));
    let mut decisions = run.flow.decisions(event);
    reads.chain(uses.control).all(|before| before < event)
        && decisions.all(|decision| run.trace.event(decision).op == Op::Branch)
}
