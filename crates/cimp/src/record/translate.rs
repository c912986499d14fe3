//! What was recorded becomes a trace and its flow.

use foretell_depend::{Flow, Node as FlowNode, NodeId, Scope, ScopeId, Use, necessary};
use foretell_trace::name::NameError;
use foretell_trace::source::Ending::Complete;
use foretell_trace::{
    Dependence, Event, EventId, Listed, Loc, MemOrder, Names, Op, Position as Reported, Steps, Symbol,
    ThreadId, Trace, TraceError, Value as TraceValue, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::recorder::{Happening, Node, Recorder, What};
use super::setup::Setup;
use super::{Ending, Run, values};
use crate::machine::{Action, Machine, MemoryLocation};
use crate::program::{self, Position};
use crate::scheduler::Schedule;
use crate::value::{ThreadRef, Value};

/// Makes the run of what was recorded; `machine` is the state at the end.
pub(super) fn translate(
    recorder: &Recorder,
    machine: &Machine<'_, Recorder>,
    ending: Ending,
    schedule: Schedule,
) -> Result<Run, TraceError> {
    let (mut writer, setup) = Writer::of(recorder, machine, usize::MAX).map_err(too_many)?;
    let first = writer.events.len() - recorder.happenings.len();
    let mut flow = writer.flow(recorder, &setup, first).ok_or(TraceError::TooManyEvents)?;
    let mut steps = which_are_steps(recorder, first);
    if let Some(decision) = writer.missing_decision() {
        writer.events.push(decision);
        flow.add_use(Use::default());
        steps.push(false);
    }
    let events = writer.events.len();
    let values = values::values(&mut writer, recorder, &setup, first, events).map_err(too_many)?;
    let values = values.ok_or(TraceError::TooManyEvents)?;
    let trace = match writer.events.is_empty() {
        true => Trace::default(),
        false => {
            Trace::check(Listed::new(writer.events, writer.names, Complete).with_steps(counted(&steps)))?
        }
    };
    let dependence = necessary(&trace, &flow);
    let trace = trace.with_dependence(dependence)?.with_values(values)?;
    Ok(Run { trace, flow, ending, schedule, steps })
}

/// Makes a trace of what would be recorded if decisions had gone another way; gives how many events set things up. From
/// the happening with the number `unknown` on, the values were not observed: only the terms say what they are.
pub(super) fn imagine(
    recorder: &Recorder,
    machine: &Machine<'_, Recorder>,
    unknown: usize,
) -> Result<(Trace, usize), TraceError> {
    let (mut writer, setup) = Writer::of(recorder, machine, unknown).map_err(too_many)?;
    let events = writer.events.len();
    let first = events - recorder.happenings.len();
    let values = values::values(&mut writer, recorder, &setup, first, events).map_err(too_many)?;
    let values = values.ok_or(TraceError::TooManyEvents)?;
    let steps = counted(&which_are_steps(recorder, first));
    let trace = Trace::check(Listed::new(writer.events, writer.names, Complete).with_steps(steps))?;
    Ok((trace.with_dependence(Dependence::new(events))?.with_values(values)?, first))
}

fn too_many(error: NameError) -> TraceError {
    TraceError::Name { at: Reported::Event(EventId::FIRST), error }
}

/// For each event whether it is a step of the program, where the first thing that happened is event `first`.
fn which_are_steps(recorder: &Recorder, first: usize) -> Vec<bool> {
    let mut steps = vec![false; first];
    steps.extend(recorder.happenings.iter().map(|happening| matches!(happening.what, What::Step { .. })));
    steps
}

/// The steps as a trace counts them.
fn counted(steps: &[bool]) -> Steps {
    let mut counted = Steps::default();
    steps.iter().for_each(|&is_step| counted.push(is_step.into()));
    counted
}

type Named<T> = Result<T, NameError>;

/// Writes events and takes up their names.
pub(super) struct Writer<'r, 'p> {
    machine: &'r Machine<'p, Recorder>,
    names: Names,
    events: Vec<Event>,
    vars: FxHashMap<MemoryLocation, VarId>,
    locs: FxHashMap<Position, Loc>,
    threads: FxHashMap<ThreadRef, ThreadId>,
    /// Whether accesses show what they read or write.
    shows_values: bool,
}

impl<'r, 'p> Writer<'r, 'p> {
    fn new(machine: &'r Machine<'p, Recorder>) -> Self {
        Writer {
            machine,
            names: Names::default(),
            events: Vec::new(),
            vars: FxHashMap::default(),
            locs: FxHashMap::default(),
            threads: FxHashMap::default(),
            shows_values: true,
        }
    }

    /// Writes all that happened, after what has to be set up for it. No values are shown from the happening with the
    /// number `unknown` on.
    fn of(recorder: &Recorder, machine: &'r Machine<'p, Recorder>, unknown: usize) -> Named<(Self, Setup)> {
        let setup = Setup::of(machine.program(), &recorder.happenings);
        let mut writer = Writer::new(machine);
        writer.set_up(&setup)?;
        for (number, happening) in recorder.happenings.iter().enumerate() {
            writer.shows_values = number < unknown;
            writer.event(happening)?;
        }
        Ok((writer, setup))
    }

    /// Lets a thread of its own prepare what the trace does not show otherwise, and start the others.
    fn set_up(&mut self, setup: &Setup) -> Named<()> {
        if setup.is_empty() {
            return Ok(());
        }
        let program = self.machine.program();
        // Threads are numbered from 1 by who starts them, so no thread is called `init.0`.
        let taken = program.threads.iter().any(|(name, _)| name == "init");
        let thread = self.names.threads.intern(if taken { b"init.0" } else { b"init" })?;
        let loc = self.names.loc(b"init")?;
        let mut ops = Vec::new();
        for &(place, number) in &setup.memory {
            ops.push(self.write(place, Value::Number(number))?);
        }
        for &(semaphore, permits) in &setup.semaphores {
            let sem = self.names.sems.intern(program.semaphore_name(semaphore).as_bytes())?;
            ops.push(Op::SemInit { sem, permits });
        }
        for root in self.machine.threads().take(program.threads.len()) {
            ops.push(Op::Fork(self.thread(root)?));
        }
        self.events.extend(ops.into_iter().map(|op| Event::new(thread, op, loc)));
        Ok(())
    }

    /// A trace that shows no decision at all is taken to hide them, so that everything depends on everything read
    /// before. If the program read something and really made none, the trace ends with one that depends on nothing, of
    /// a thread that could go on and that no thread waited for, so that nothing depends on the decision either.
    fn missing_decision(&self) -> Option<Event> {
        let reads = |event: &Event| event.op.access().is_some_and(|access| access.kind.reads());
        if !self.events.iter().any(reads) || self.events.iter().any(|event| event.op == Op::Branch) {
            return None;
        }
        let mut passed: FxHashSet<ThreadId> = FxHashSet::default();
        passed.extend(self.events.iter().filter_map(|event| match event.op {
            Op::Join(thread) => Some(thread),
            _ => None,
        }));
        // Going backwards, a thread that comes by for the first time comes with its last event.
        let goes_on = |event: &&Event| passed.insert(event.thread) && !matches!(event.op, Op::Wait { .. });
        let last = self.events.iter().rev().find(goes_on)?;
        Some(Event::new(last.thread, Op::Branch, last.loc))
    }

    fn event(&mut self, happening: &Happening) -> Named<()> {
        let thread = self.thread(happening.at.thread)?;
        let loc = self.loc(happening.at.position)?;
        let op = match happening.what {
            What::Decision { .. } => Op::Branch,
            What::Initial { place, value } => self.write(place, value)?,
            What::Step { action, value, child } => {
                self.step(action, value.unwrap_or_default(), child.unwrap_or(happening.at.thread))?
            }
        };
        self.events.push(Event::new(thread, op, loc));
        Ok(())
    }

    fn step(&mut self, action: Action, value: Value, child: ThreadRef) -> Named<Op> {
        let program = self.machine.program();
        let names = &mut self.names;
        Ok(match action {
            Action::Read(place) => self.read(place, value)?,
            Action::Write(place) => self.write(place, value)?,
            Action::Acquire(lock) => Op::Acquire(names.locks.intern(program.lock_name(lock).as_bytes())?),
            Action::Release(lock) => Op::Release(names.locks.intern(program.lock_name(lock).as_bytes())?),
            Action::SemWait(sem) => Op::SemWait(names.sems.intern(program.semaphore_name(sem).as_bytes())?),
            Action::SemPost(sem) => Op::SemPost(names.sems.intern(program.semaphore_name(sem).as_bytes())?),
            Action::Wait { condition, lock } => Op::Wait {
                cond: names.conds.intern(program.condition_name(condition).as_bytes())?,
                lock: names.locks.intern(program.lock_name(lock).as_bytes())?,
            },
            Action::Woken { condition, lock } => Op::Woken {
                cond: names.conds.intern(program.condition_name(condition).as_bytes())?,
                lock: names.locks.intern(program.lock_name(lock).as_bytes())?,
            },
            Action::Notify(condition) => {
                Op::Notify(names.conds.intern(program.condition_name(condition).as_bytes())?)
            }
            Action::NotifyAll(condition) => {
                Op::NotifyAll(names.conds.intern(program.condition_name(condition).as_bytes())?)
            }
            Action::Fork(_) => Op::Fork(self.thread(child)?),
            Action::Join(other) => Op::Join(self.thread(other)?),
            // Recorders do not see it: a thread that has gone wrong just does nothing any more.
            Action::Fail => Op::End,
        })
    }

    fn read(&mut self, place: MemoryLocation, value: Value) -> Named<Op> {
        let (var, value) = (self.var(place)?, self.shown(value)?);
        Ok(match self.machine.is_atomic(place) {
            true => Op::Load { var, value, order: MemOrder::SeqCst },
            false => Op::Read { var, value },
        })
    }

    fn write(&mut self, place: MemoryLocation, value: Value) -> Named<Op> {
        let (var, value) = (self.var(place)?, self.shown(value)?);
        Ok(match self.machine.is_atomic(place) {
            true => Op::Store { var, value, order: MemOrder::SeqCst },
            false => Op::Write { var, value },
        })
    }

    fn shown(&mut self, value: Value) -> Named<Option<TraceValue>> {
        self.shows_values.then(|| self.value(value)).transpose()
    }

    fn thread(&mut self, thread: ThreadRef) -> Named<ThreadId> {
        if let Some(&id) = self.threads.get(&thread) {
            return Ok(id);
        }
        let id = self.names.threads.intern(self.machine.thread_name(thread).as_bytes())?;
        self.threads.insert(thread, id);
        Ok(id)
    }

    fn loc(&mut self, position: Position) -> Named<Loc> {
        if let Some(&loc) = self.locs.get(&position) {
            return Ok(loc);
        }
        let loc = self.names.loc(position.to_string().as_bytes())?;
        self.locs.insert(position, loc);
        Ok(loc)
    }

    fn var(&mut self, place: MemoryLocation) -> Named<VarId> {
        if let Some(&var) = self.vars.get(&place) {
            return Ok(var);
        }
        let var = self.names.vars.intern(self.machine.place_name(place).as_bytes())?;
        self.vars.insert(place, var);
        Ok(var)
    }

    pub(super) fn value(&mut self, value: Value) -> Named<TraceValue> {
        if let Value::Number(number) = value
            && let Some(symbol) = u32::try_from(number).ok().and_then(Symbol::number)
        {
            return Ok(TraceValue(symbol));
        }
        self.names.symbol(self.machine.value_name(value).as_bytes()).map(TraceValue)
    }

    /// The flow, where the first thing that happened is event `first` of the trace. `None` if there are too many
    /// events.
    fn flow(&self, recorder: &Recorder, setup: &Setup, first: usize) -> Option<Flow> {
        let mut flow = Flow::default();
        for index in 0..first {
            let value = match setup.memory.get(index) {
                Some(&(_, number)) => Some(flow.add_node(FlowNode::Constant(number))?),
                None => None,
            };
            flow.add_use(Use { value, ..Use::default() });
        }
        let event = |happening: u32| EventId::from_index(first + happening as usize);
        let nodes = add_nodes(&mut flow, &recorder.nodes, event)?;
        let scopes = self.add_scopes(&mut flow)?;
        let failing = flow.add_scope(Scope { writes: Vec::new(), may_stop: true })?;
        for happening in &recorder.happenings {
            let node = |node: Option<u32>| node.map(|node| nodes[node as usize]);
            let scope = match happening.what {
                What::Decision { scope, .. } => Some(scope.map_or(failing, |scope| scopes[scope])),
                What::Step { .. } | What::Initial { .. } => None,
            };
            flow.add_use(Use {
                value: node(happening.value),
                address: node(happening.address),
                control: happening.control.and_then(event),
                scope,
            });
        }
        Some(flow)
    }

    fn add_scopes(&self, flow: &mut Flow) -> Option<Vec<ScopeId>> {
        let scopes = self.machine.program().scopes.iter();
        scopes.map(|scope| flow.add_scope(self.scope(scope))).collect()
    }

    /// The variables of the trace that a scope stands for.
    fn scope(&self, scope: &program::Scope) -> Scope {
        let covers = |place: MemoryLocation| match place {
            MemoryLocation::Shared { variable, .. } => {
                scope.shared.binary_search(&(variable as usize)).is_ok()
            }
            MemoryLocation::Field { cell, field } => {
                let field = self.machine.field_name(cell, field);
                scope.fields.binary_search_by(|name| name.as_str().cmp(field)).is_ok()
            }
        };
        let vars = self.vars.iter();
        let mut writes: Vec<VarId> = vars.filter(|(place, _)| covers(**place)).map(|(_, &var)| var).collect();
        writes.sort_unstable();
        Scope { writes, may_stop: scope.may_stop }
    }
}

fn add_nodes(flow: &mut Flow, nodes: &[Node], event: impl Fn(u32) -> Option<EventId>) -> Option<Vec<NodeId>> {
    let mut ids: Vec<NodeId> = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let node = match node {
            Node::Constant(value) => FlowNode::Constant(as_number(value)),
            Node::Read(happening) => FlowNode::Read(event(happening)?),
            Node::Unary(op, of) => FlowNode::Unary(op, ids[of as usize]),
            Node::Binary(op, left, right) => FlowNode::Binary(op, ids[left as usize], ids[right as usize]),
            Node::Chosen { by, value } => {
                FlowNode::Chosen { by: ids[by as usize], value: ids[value as usize] }
            }
        };
        ids.push(flow.add_node(node)?);
    }
    Some(ids)
}

/// Values that are no numbers are 0 in the flow.
fn as_number(value: Value) -> i64 {
    match value {
        Value::Number(number) => number,
        Value::Cell(_) | Value::Thread(_) => 0,
    }
}
