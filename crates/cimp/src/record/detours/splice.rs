//! A run with a detour in it: what happened up to the decision, what the thread does instead, and what the others can still do.

use foretell_trace::{EventId, TraceError};

use super::course::Course;
use super::walk::Walk;
use super::{Detour, Whole};
use crate::machine::{Action, Place};
use crate::record::recorder::{Decided, Happening, Node, Recorder, What};
use crate::record::translate;
use crate::value::{ThreadRef, Value};

/// Where the run is left.
#[derive(Clone, Copy)]
pub(super) struct Seam {
    /// How many happenings and nodes there are that the run and the walk share for sure: those before the step of the decision.
    pub(super) happenings: usize,
    pub(super) nodes: usize,
    /// The number of the decision, which is the last thing that they share, but for its outcome.
    pub(super) decision: usize,
    pub(super) thread: ThreadRef,
    /// How many cells the thread had allocated before the step. Those that it allocates after the decision may be others.
    pub(super) cells: usize,
}

/// Makes the detour of a walk, which the recorder has.
pub(super) fn splice(
    whole: &Whole<'_>,
    walked: &Recorder,
    walk: &Walk<'_>,
    seam: Seam,
) -> Result<Detour, TraceError> {
    let run = &whole.recorder;
    let mut made = Recorder {
        happenings: walked.happenings[..walk.end].to_vec(),
        nodes: walked.nodes[..seam.nodes].to_vec(),
        lead: None,
    };
    let rest = what_remains(whole, &made.happenings, walk.is_over, seam);
    let mut numbers = vec![None; run.happenings.len()];
    for (number, now) in numbers.iter_mut().enumerate().take(seam.decision + 1) {
        *now = narrow(number);
    }
    for (place, &number) in rest.iter().enumerate() {
        numbers[number] = narrow(walk.end + place);
    }
    let own = |number: u32| Some(number).filter(|&number| (number as usize) < walk.end);
    let walk_of = made.happenings[seam.happenings..].iter().copied();
    let nodes = adopt(&mut made.nodes, &walked.nodes, seam.nodes, walk_of, own);
    for happening in &mut made.happenings[seam.happenings..] {
        *happening = renumbered(*happening, &nodes, seam.nodes, own);
    }
    let others = |number: u32| numbers[number as usize];
    let rest = rest.iter().map(|&number| run.happenings[number]);
    let nodes = adopt(&mut made.nodes, &run.nodes, seam.nodes, rest.clone(), others);
    made.happenings.extend(rest.map(|happening| renumbered(happening, &nodes, seam.nodes, others)));
    let machine = whole.end.with_thread_of(&walk.machine, seam.thread);
    let (trace, first) = translate::imagine(&made, &machine, seam.decision)?;
    let id = |number: usize| EventId::from_index(first + number).ok_or(TraceError::TooManyEvents);
    let mut origins = vec![None; trace.events().len()];
    for (number, &now) in numbers.iter().enumerate() {
        let Some(now) = now else { continue };
        origins[first + now as usize] = EventId::from_index(whole.first + number);
    }
    let added = (seam.decision + 1..walk.end).map(id).collect::<Result<_, _>>()?;
    Ok(Detour { branch: id(seam.decision)?, added, origins, trace })
}

/// What the other threads can still do after the decision, by the numbers in the run.
fn what_remains(whole: &Whole<'_>, before: &[Happening], is_over: bool, seam: Seam) -> Vec<usize> {
    let mut course = Course::new(whole.end.program());
    for happening in before {
        course.happens(happening);
    }
    if !is_over {
        course.stop(seam.thread);
    }
    let mut rest = Vec::new();
    for (number, happening) in whole.recorder.happenings.iter().enumerate().skip(seam.decision + 1) {
        if happening.at.thread == seam.thread {
            continue;
        }
        if touches_later_cell(happening, seam) {
            course.stop(happening.at.thread);
        }
        if course.happens(happening) {
            rest.push(number);
        }
    }
    rest
}

/// Whether it is about a cell that the thread allocates only in the run: what has its name on the detour may be another kind of cell.
fn touches_later_cell(happening: &Happening, seam: Seam) -> bool {
    let cell = match happening.what {
        What::Step {
            action: Action::Read(Place::Field { cell, .. }) | Action::Write(Place::Field { cell, .. }),
            ..
        }
        | What::Decision { decided: Decided::Same(Value::Cell(cell)), .. } => cell,
        _ => return false,
    };
    cell.owner == seam.thread && cell.number as usize >= seam.cells
}

/// Takes up the nodes from number `first` on that these happenings are made of. Gives the new numbers of those; of others there is none.
fn adopt(
    into: &mut Vec<Node>,
    nodes: &[Node],
    first: usize,
    happenings: impl Iterator<Item = Happening>,
    number: impl Fn(u32) -> Option<u32>,
) -> Vec<Option<u32>> {
    let needed = needed(nodes, first, happenings);
    let mut adopted: Vec<Option<u32>> = Vec::with_capacity(needed.len());
    for (&node, is_needed) in nodes[first..].iter().zip(needed) {
        let of = |node: u32| renumbered_node(node, &adopted, first);
        let node = match node {
            Node::Constant(_) => Some(node),
            Node::Read(read) => number(read).map(Node::Read),
            Node::Unary(op, operand) => of(operand).map(|operand| Node::Unary(op, operand)),
            Node::Binary(op, left, right) => {
                of(left).zip(of(right)).map(|(left, right)| Node::Binary(op, left, right))
            }
            Node::Chosen { by, value } => of(by).zip(of(value)).map(|(by, value)| Node::Chosen { by, value }),
        };
        adopted.push(node.filter(|_| is_needed).and_then(|node| {
            into.push(node);
            narrow(into.len() - 1)
        }));
    }
    adopted
}

/// Which nodes from number `first` on the happenings are made of.
fn needed(nodes: &[Node], first: usize, happenings: impl Iterator<Item = Happening>) -> Vec<bool> {
    let mut needed = vec![false; nodes.len() - first];
    let need = |needed: &mut [bool], node: u32| {
        if let Some(place) = (node as usize).checked_sub(first) {
            needed[place] = true;
        }
    };
    for node in happenings.flat_map(|happening| [happening.value, happening.address]).flatten() {
        need(&mut needed, node);
    }
    for place in (0..needed.len()).rev() {
        if !needed[place] {
            continue;
        }
        match nodes[first + place] {
            Node::Constant(_) | Node::Read(_) => {}
            Node::Unary(_, of) => need(&mut needed, of),
            Node::Binary(_, one, other) | Node::Chosen { by: one, value: other } => {
                need(&mut needed, one);
                need(&mut needed, other);
            }
        }
    }
    needed
}

/// The new number of a node: those before `first` keep theirs.
fn renumbered_node(node: u32, adopted: &[Option<u32>], first: usize) -> Option<u32> {
    match (node as usize).checked_sub(first) {
        Some(place) => adopted[place],
        None => Some(node),
    }
}

fn renumbered(
    happening: Happening,
    nodes: &[Option<u32>],
    first: usize,
    number: impl Fn(u32) -> Option<u32>,
) -> Happening {
    // What a thread computes with it has read itself before, or its parent before the fork; all of that is there if the happening is.
    let node = |node: Option<u32>| {
        let now = node.and_then(|node| renumbered_node(node, nodes, first));
        debug_assert_eq!(now.is_some(), node.is_some(), "no demand may get lost");
        now
    };
    Happening {
        value: node(happening.value),
        address: node(happening.address),
        control: happening.control.and_then(number),
        ..happening
    }
}

/// Numbers of happenings and nodes take four bytes, as in the recorder.
fn narrow(number: usize) -> Option<u32> {
    u32::try_from(number).ok()
}
