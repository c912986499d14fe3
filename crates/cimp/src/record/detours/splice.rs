//! A run with a detour in it: what happened up to the decision, what the thread does instead, and what the others can
//! still do.

use foretell_depend::Course;
use foretell_trace::{CondId, EventId, LockId, Op, SemId, ThreadId, TraceError};

use super::walk::Walk;
use super::{Detour, Whole};
use crate::machine::{Action, MemoryLocation, elements};
use crate::record::recorder::{Decided, Happening, Node, Recorder, What};
use crate::record::translate;
use crate::value::{ThreadRef, Value};

/// Where the run is left.
#[derive(Clone, Copy)]
pub(super) struct Seam {
    /// How many happenings and nodes there are that the run and the walk share for sure: those before the step of the
    /// decision.
    pub(super) happenings: usize,
    pub(super) nodes: usize,
    /// The number of the decision, which is the last thing that they share, but for its outcome.
    pub(super) decision: usize,
    pub(super) thread: ThreadRef,
    /// How many cells the thread had allocated before the step. Those that it allocates after the decision may be
    /// others.
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
    let mut course = course(whole);
    for happening in before {
        if let Some((thread, op)) = as_event(happening) {
            course.happened(thread, op);
        }
    }
    if let Some(thread) = thread_id(seam.thread).filter(|_| !is_over) {
        course.stop(thread);
    }
    let mut rest = Vec::new();
    for (number, happening) in whole.recorder.happenings.iter().enumerate().skip(seam.decision + 1) {
        let Some((thread, op)) = as_event(happening) else { continue };
        if happening.at.thread == seam.thread {
            continue;
        }
        if touches_later_cell(happening, seam) {
            course.stop(thread);
        }
        if course.happens(thread, op) {
            rest.push(number);
        }
    }
    rest
}

/// Nothing has happened yet.
fn course(whole: &Whole<'_>) -> Course {
    let program = whole.end.program();
    let is_forked = |happening: &&Happening| happening.at.thread.0 as usize >= program.threads.len();
    let forked = whole.recorder.happenings.iter().filter(is_forked);
    let mut course = Course::new(forked.filter_map(|happening| thread_id(happening.at.thread)));
    let semaphores = program.semaphores.iter();
    let permits = semaphores.flat_map(|(group, permits)| elements(group).map(|element| (element, *permits)));
    for (semaphore, permits) in permits {
        if let (Some(thread), Some(sem)) = (thread_id(ThreadRef(0)), SemId::from_index(semaphore as usize)) {
            course.happened(thread, Op::SemInit { sem, permits });
        }
    }
    course
}

fn thread_id(thread: ThreadRef) -> Option<ThreadId> {
    ThreadId::from_index(thread.0 as usize)
}

/// What happens as an operation of a trace, as far as others may need it. None if there is more of something than a
/// trace can count.
fn as_event(happening: &Happening) -> Option<(ThreadId, Op)> {
    let op = match happening.what {
        What::Step { action, child, .. } => operation(action, child)?,
        What::Initial { .. } | What::Decision { .. } => Op::Branch,
    };
    Some((thread_id(happening.at.thread)?, op))
}

fn operation(action: Action, child: Option<ThreadRef>) -> Option<Op> {
    let lock = |lock: u32| LockId::from_index(lock as usize);
    let sem = |sem: u32| SemId::from_index(sem as usize);
    let cond = |cond: u32| CondId::from_index(cond as usize);
    Some(match action {
        Action::Acquire(of) => Op::Acquire(lock(of)?),
        Action::Release(of) => Op::Release(lock(of)?),
        Action::SemWait(of) => Op::SemWait(sem(of)?),
        Action::SemPost(of) => Op::SemPost(sem(of)?),
        Action::Wait { condition, lock: of } => Op::Wait { cond: cond(condition)?, lock: lock(of)? },
        Action::Woken { condition, lock: of } => Op::Woken { cond: cond(condition)?, lock: lock(of)? },
        Action::Notify(condition) => Op::Notify(cond(condition)?),
        Action::NotifyAll(condition) => Op::NotifyAll(cond(condition)?),
        Action::Fork(_) => Op::Fork(thread_id(child?)?),
        Action::Join(other) => Op::Join(thread_id(other)?),
        // No other event needs them, and they need none.
        Action::Read(_) | Action::Write(_) | Action::Fail => Op::Branch,
    })
}

/// Whether it is about a cell that the thread allocates only in the run: what has its name on the detour may be another
/// kind of cell.
fn touches_later_cell(happening: &Happening, seam: Seam) -> bool {
    let cell = match happening.what {
        What::Step {
            action:
                Action::Read(MemoryLocation::Field { cell, .. })
                | Action::Write(MemoryLocation::Field { cell, .. }),
            ..
        }
        | What::Decision { decided: Decided::Same(Value::Cell(cell)), .. } => cell,
        _ => return false,
    };
    cell.owner == seam.thread && cell.number as usize >= seam.cells
}

/// Takes up the nodes from number `first` on that these happenings are made of. Gives the new numbers of those; of
/// others there is none.
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
    // What a thread computes with it has read itself before, or its parent before the fork; all of that is there if the
    // happening is.
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
