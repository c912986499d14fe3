//! One untaken path: its thread runs alone from the branch on.

use std::rc::Rc;

use foretell_trace::values::{TermId, Unary};
use foretell_trace::{EventId, Loc, LockId, Op, VarId};
use foretell_wire::code::{Operand, opcode};
use rustc_hash::FxHashMap;

use super::environment::{Environment, Footprint, LockHolder, TouchedVar};
use super::{Limits, UntakenBranch, UntakenEvent};
use crate::code::is_call;
use crate::evaluate::Given;
use crate::follower::symbolic_shadow::SymbolicShadow;
use crate::follower::walk::Caller;
use crate::machine::{Frame, Machine};
use crate::routine::Routine;
use crate::shadow::Shadow as _;
use crate::shape::{End, Silently};
use crate::symbolic::Symbolic;
use crate::terms::{CONSTANT, Origin, Origins, Sets, Source};
use crate::values::{Known, Scalar, Type, UNKNOWN};

/// How many instructions are executed on one path.
const MOST_STEPS: usize = 20_000;
/// How many calls a path may be in.
const DEEPEST: usize = 16;

/// A byte of thread-local memory that was written on the path.
#[derive(Clone, Copy, Debug)]
struct Byte {
    known: Option<u8>,
    source: Source,
}

/// A call on the path.
struct Active {
    routine: Rc<Routine>,
    frame: Frame,
    /// The instruction that has called another function.
    at: u32,
    /// The trace has an event for the call.
    is_recorded: bool,
}

/// A thread on an untaken path.
pub(super) struct Path<'a> {
    machine: &'a mut Machine,
    shadow: SymbolicShadow<'a>,
    /// Bytes of thread-local memory that depend on reads.
    own: &'a FxHashMap<u64, [Option<Source>; 8]>,
    environment: &'a mut dyn Environment,
    /// How many events come before the path.
    after: usize,
    /// The calls that it is in, the innermost last.
    calls: Vec<Active>,
    /// What it has written to thread-local memory,
    written: FxHashMap<u64, Byte>,
    /// and to variables of the trace.
    guesses: FxHashMap<VarId, u64>,
    /// Mutexes that it has acquired or released, and their state since.
    locks: FxHashMap<LockId, LockHolder>,
    /// The path constraint of the next event.
    demands: Vec<(TermId, u64)>,
    events: Vec<UntakenEvent>,
    /// How many steps it has made since its last event.
    since: u64,
    /// The branch decisions to take, and those taken so far.
    prescribed: Vec<usize>,
    decided: Vec<usize>,
    /// Paths that fork from this one.
    others: Vec<Vec<usize>>,
}

impl<'a> Path<'a> {
    /// A path that has not begun, with these branch decisions.
    pub(super) fn new(
        machine: &'a mut Machine,
        shadow: SymbolicShadow<'a>,
        own: &'a FxHashMap<u64, [Option<Source>; 8]>,
        environment: &'a mut dyn Environment,
        prescribed: Vec<usize>,
    ) -> Path<'a> {
        Path {
            machine,
            shadow,
            own,
            after: environment.events(),
            environment,
            calls: Vec::new(),
            written: FxHashMap::default(),
            guesses: FxHashMap::default(),
            locks: FxHashMap::default(),
            demands: Vec::new(),
            events: Vec::new(),
            since: 0,
            prescribed,
            decided: Vec::new(),
            others: Vec::new(),
        }
    }

    /// The events of the path, and the paths that fork from it.
    pub(super) fn finish(self) -> (Vec<UntakenEvent>, Vec<Vec<usize>>) {
        (self.events, self.others)
    }
    /// Continues until something is not modelled.
    pub(super) fn go(&mut self, fork: &UntakenBranch, limits: &Limits) -> Option<()> {
        self.shadow.symbolic.terms.push_zero()?;
        self.environment.begin(fork.left);
        self.since = self.environment.since();
        self.pin()?;
        let outer = fork.callers.iter().rev().cloned();
        self.calls.extend(outer.map(|Caller { routine, frame, at }| Active {
            routine,
            frame,
            at,
            is_recorded: true,
        }));
        let (routine, frame) = (Rc::clone(&fork.routine), fork.frame.clone());
        self.calls.push(Active { routine, frame, at: 0, is_recorded: true });
        let depth = self.calls.len();
        let mut next = self.decide(&fork.routine, fork.index)?;
        let loc = self.environment.loc(self.machine.functions.get(fork.routine.id)?.mark(fork.index).site)?;
        self.emit(Op::Branch, loc, None);
        let mut met = None;
        for _ in 0..MOST_STEPS {
            if self.calls.len() == depth && fork.goal == Some(next) {
                met = met.or(Some(self.events.len()));
            }
            let length = self.events.len();
            if length > limits.events || met.is_some_and(|met| length >= met + limits.behind) {
                return None;
            }
            next = self.step(next)?;
        }
        None
    }

    /// Values that steer the thread in an unknown way must be as observed.
    fn pin(&mut self) -> Option<()> {
        let Sets { tracker, thread } = &self.shadow.symbolic.sets;
        for &read in tracker.steering(*thread) {
            self.shadow.waiting.push(self.shadow.symbolic.terms.pinned(read)?);
        }
        Some(())
    }

    /// Adds an event.
    fn emit(&mut self, op: Op, loc: Loc, written: Option<TermId>) {
        let terms = &*self.shadow.symbolic.terms;
        let mut demands = std::mem::take(&mut self.demands);
        let waiting = self.shadow.waiting.drain(..).filter(|&term| !terms.is_settled(term));
        demands.extend(waiting.map(|term| (term, terms.observed(term))));
        self.events.push(UntakenEvent { op, loc, since: std::mem::take(&mut self.since), demands, written });
    }

    /// The number that the next event will have.
    fn next_event(&self) -> Option<EventId> {
        EventId::from_index(self.after.checked_add(self.events.len())?)
    }

    fn given(&self, operand: Operand) -> Option<Given> {
        let Active { routine, frame, .. } = self.calls.last()?;
        Some(self.machine.given(routine, frame, operand))
    }

    fn put(&mut self, index: u32, known: Known, origins: Origins) -> Option<()> {
        self.calls.last_mut()?.frame.put(index as usize, known, origins);
        Some(())
    }

    /// Every step so far is known.
    fn is_right(&self) -> Option<()> {
        (!self.shadow.has_failed).then_some(())
    }

    /// Executes an instruction; returns the next one.
    fn step(&mut self, index: u32) -> Option<u32> {
        let routine = Rc::clone(&self.calls.last()?.routine);
        let step = routine.shape.step(index)?;
        let function = self.machine.functions.get(routine.id)?;
        let (code, mark) = (function.opcode(index), function.mark(index));
        match (code, step.end) {
            (_, Some(End::Return(_))) => return self.leave(index),
            (_, Some(End::Other))
            | (opcode::ATOMICRMW | opcode::CMPXCHG | opcode::FENCE | opcode::VA_ARG, _)
            | (opcode::INDIRECTBR | opcode::LANDINGPAD, _) => return None,
            (opcode::LOAD | opcode::STORE, _) if mark.has_site => {
                mark.is_recorded.then_some(())?;
                self.access(&routine, index, mark.site)?;
            }
            (code, _) if is_call(code) => {
                if let Some(first) = self.call(&routine, index)? {
                    return Some(first);
                }
            }
            _ if step.is_unknown => return None,
            _ if routine.shape.next(index).len() > 1 => return self.decide(&routine, index),
            _ => self.perform(&routine, index)?,
        }
        self.successor(&routine, index)
    }

    /// Executes an instruction without a record.
    fn perform(&mut self, routine: &Routine, index: u32) -> Option<()> {
        let frame = &mut self.calls.last_mut()?.frame;
        self.machine.perform(routine, frame, index, &mut self.shadow);
        self.is_right()
    }

    /// The instruction after one that is no branch. Calls return normally.
    fn successor(&mut self, routine: &Routine, index: u32) -> Option<u32> {
        let &next = routine.shape.next(index).first()?;
        if routine.block(next) == routine.block(index) && next == index + 1 {
            return Some(next);
        }
        let frame = &mut self.calls.last_mut()?.frame;
        Some(self.machine.enter_block(routine, frame, index, next))
    }

    /// Takes one of several branch sides.
    fn decide(&mut self, routine: &Routine, index: u32) -> Option<u32> {
        let ways = routine.shape.next(index);
        let given = self.machine.all_given(routine, &self.calls.last()?.frame, index);
        let (condition, cases) = given.split_first()?;
        let by_value = self.machine.way_by_value(routine, index, condition, cases)?;
        let way = match condition.origins[0] {
            Origin::Term(term) if !self.shadow.symbolic.terms.is_settled(term) => {
                let way = self.prescribed.get(self.decided.len()).copied().unwrap_or(by_value);
                self.demand_way(term, condition, cases, way)?;
                if self.decided.len() >= self.prescribed.len() {
                    let others = (0..ways.len()).rev().filter(|&other| ways.get(other) != ways.get(way));
                    self.others.extend(others.map(|other| [&self.decided[..], &[other]].concat()));
                }
                self.decided.push(way);
                way
            }
            _ => {
                self.shadow.hold(&[*condition]);
                self.is_right()?;
                by_value
            }
        };
        let frame = &mut self.calls.last_mut()?.frame;
        Some(self.machine.enter_block(routine, frame, index, *ways.get(way)?))
    }

    /// Adds the path constraint of a branch side.
    fn demand_way(&mut self, term: TermId, condition: &Given, cases: &[Given], way: usize) -> Option<()> {
        match way.checked_sub(1) {
            _ if cases.is_empty() => self.demands.push((term, u64::from(way == 0))),
            Some(case) => {
                let case = condition.scalar()?.fit(cases.get(case)?.known[0]?);
                self.demands.push((term, case));
            }
            None => {
                let terms = self.shadow.none_of(condition, cases)?;
                self.demands.extend(terms.into_iter().map(|term| (term, 0)));
            }
        }
        Some(())
    }

    /// A call: the first instruction of the callee, if it has to be executed.
    fn call(&mut self, routine: &Rc<Routine>, index: u32) -> Option<Option<u32>> {
        let function = self.machine.functions.get(routine.id)?;
        let (step, mark) = (routine.shape.step(index)?, function.mark(index));
        if let Some(name) = function.callee_name(index).filter(|name| name.starts_with("llvm.")) {
            let is_silent = !mark.has_site && !step.is_unknown && !name.starts_with("llvm.mem");
            is_silent.then(|| self.perform(routine, index))??;
            return Some(None);
        }
        match function.callee_name(index) {
            Some("pthread_mutex_lock") => return self.mutex(routine, index, mark.site, true).map(|()| None),
            Some("pthread_mutex_unlock") => {
                return self.mutex(routine, index, mark.site, false).map(|()| None);
            }
            _ => {}
        }
        let call = step.call.as_deref()?;
        let Silently::As(callee) = call.silently else { return None };
        let is_plain = !step.is_recorded && !step.is_unknown && !step.calls_back && !mark.is_hidden;
        // Another function of the same name may be meant.
        let is_the_one = self.machine.functions.named(call.name?).len() == 1;
        (is_plain && is_the_one && self.calls.len() < DEEPEST).then_some(())?;
        let callee = self.machine.routine(callee).filter(|callee| !callee.shape.is_returned_to)?;
        let caller = self.calls.last_mut()?;
        let given = self.machine.arguments(routine, &caller.frame, index);
        (given.len() == callee.parameters().len()).then_some(())?;
        caller.at = index;
        if mark.has_site {
            self.environment.enter(mark.site);
        }
        let frame = Frame::of(&callee, &given);
        self.calls.push(Active { routine: callee, frame, at: 0, is_recorded: mark.has_site });
        Some(Some(0))
    }

    /// A mutex is acquired or released. One that is neither free nor held by the thread would block, or is an error.
    fn mutex(&mut self, routine: &Routine, index: u32, site: u64, takes: bool) -> Option<()> {
        let given = self.machine.arguments(routine, &self.calls.last()?.frame, index);
        let &[mutex] = &given[..] else { return None };
        let (lock, held) = self.environment.lock(mutex.known[0]?)?;
        let (needed, becomes) =
            if takes { (LockHolder::Free, LockHolder::Own) } else { (LockHolder::Own, LockHolder::Free) };
        (self.locks.get(&lock).copied().unwrap_or(held) == needed).then_some(())?;
        self.shadow.hold(&[mutex]);
        self.is_right()?;
        let loc = self.lead_to(site)?;
        self.emit(if takes { Op::Acquire(lock) } else { Op::Release(lock) }, loc, None);
        self.locks.insert(lock, becomes);
        self.put(index, [Some(0), None], CONSTANT)
    }

    /// The innermost call returns; what its caller does next.
    fn leave(&mut self, index: u32) -> Option<u32> {
        let ended = self.calls.pop()?;
        let returned = self.machine.all_given(&ended.routine, &ended.frame, index).first().copied();
        if ended.is_recorded {
            self.environment.leave();
        }
        let Active { routine, at, .. } = self.calls.last()?;
        let (routine, at) = (Rc::clone(routine), *at);
        let of = routine.type_at(at as usize);
        let (known, origins) = returned.map_or((UNKNOWN, CONSTANT), |given| (given.known, given.origins));
        // A result of another type than expected cannot be followed.
        (returned.is_none() || of.fit(known) == known).then_some(())?;
        self.put(at, known, origins)?;
        self.successor(&routine, at)
    }

    /// A load or store that leaves a record.
    fn access(&mut self, routine: &Routine, index: u32, site: u64) -> Option<()> {
        let function = self.machine.functions.get(routine.id)?;
        // Atomic ones have an order.
        function.numbers(index).is_empty().then_some(())?;
        let operands: Vec<Operand> = function.values(index).collect();
        let of = Type::parse(function.text(function.instruction(index)?.result)).scalar()?;
        let (value, pointer) = match (function.opcode(index), &operands[..]) {
            (opcode::LOAD, &[pointer]) => (None, pointer),
            (opcode::STORE, &[value, pointer]) => (Some(value), pointer),
            _ => return None,
        };
        let stored = match value {
            Some(value) => Some(self.given(value)?),
            None => None,
        };
        let size = Some(of.bits().div_ceil(8)).filter(|size| size.is_power_of_two())?;
        let pointer_given = self.given(pointer)?;
        let address = pointer_given.known[0]?;
        self.shadow.hold(&[pointer_given]);
        self.is_right()?;
        let is_named = matches!(pointer, Operand::Global(_) | Operand::Within(..));
        match (self.environment.touch(address, size, stored.is_some(), is_named)?, stored) {
            // One instruction would be several events.
            (Footprint::Variables(spots), _) if spots.len() > 1 => None,
            (Footprint::Variables(spots), None) => self.read(index, of, site, &spots),
            (Footprint::Variables(spots), Some(stored)) => self.write(of, site, &spots, stored),
            (Footprint::Own(bytes), None) => self.load(index, of, address, &bytes[..size as usize]),
            (Footprint::Own(_), Some(stored)) => self.store(address, size, stored),
            (Footprint::Constant(bytes), None) => self.load_constant(index, of, &bytes[..size as usize]),
            (Footprint::Constant(_), Some(_)) => None,
        }
    }

    /// Adds the calls up to a site; returns its location.
    fn lead_to(&mut self, site: u64) -> Option<Loc> {
        let (before, loc) = self.environment.lead_to(site)?;
        for (op, loc) in before {
            self.emit(op, loc, None);
        }
        self.since += 1;
        Some(loc)
    }

    /// Variables of the trace are read.
    fn read(&mut self, index: u32, of: Scalar, site: u64, spots: &[TouchedVar]) -> Option<()> {
        let loc = self.lead_to(site)?;
        let (mut sources, mut guess) = (vec![None; of.bits().div_ceil(8) as usize], 0);
        for spot in spots {
            let event = self.next_event()?;
            let bits = 8 * (spot.end - spot.first);
            let was = Scalar::Int(bits).fit(self.guesses.get(&spot.var).copied().unwrap_or(spot.guess));
            let term = self.shadow.symbolic.terms.imagined_read(event, bits, was)?;
            guess |= was << (8 * spot.first);
            for byte in spot.first..spot.end {
                *sources.get_mut(byte as usize)? = Some((Origin::Term(term), byte - spot.first));
            }
            self.emit(Op::Read { var: spot.var, value: None }, loc, None);
        }
        let term = self.shadow.symbolic.assembled(&sources, guess)?;
        self.put_term(index, of, term, guess)
    }

    /// The result of an instruction is this term, or its lowest bits.
    fn put_term(&mut self, index: u32, of: Scalar, term: TermId, observed: u64) -> Option<()> {
        let terms = &mut self.shadow.symbolic.terms;
        let term = terms.unary(Unary::Truncate, of.bits(), term)?;
        let known = Some(of.fit(observed)).filter(|&known| terms.observed(term) == known)?;
        self.put(index, [Some(known), None], [Origin::Term(term), Origin::NOTHING])
    }

    /// Variables of the trace are written.
    fn write(&mut self, of: Scalar, site: u64, spots: &[TouchedVar], stored: Given) -> Option<()> {
        let loc = self.lead_to(site)?;
        let term = self.shadow.symbolic.term(&stored, 0, of);
        for spot in spots {
            let (from, bits) = (8 * spot.first, 8 * (spot.end - spot.first));
            let Symbolic { terms, sets } = &mut self.shadow.symbolic;
            let part = term.and_then(|term| terms.extract(sets, term, from, bits));
            let guess = part.map_or(0, |part| terms.observed(part));
            self.guesses.insert(spot.var, guess);
            self.emit(Op::Write { var: spot.var, value: None }, loc, part);
        }
        Some(())
    }

    /// Thread-local memory is read, which held these bytes before the path.
    fn load(&mut self, index: u32, of: Scalar, address: u64, bytes: &[Option<u8>]) -> Option<()> {
        self.since += 1;
        let (mut sources, mut observed) = (Vec::new(), Some(0));
        for (offset, &known) in (0_u32..).zip(bytes) {
            let at = address.checked_add(u64::from(offset))?;
            let Byte { known, source } = match self.written.get(&at) {
                Some(&byte) => byte,
                None => Byte { known, source: self.source(at) },
            };
            let shifted = known.map(|known| u64::from(known) << (8 * offset));
            observed = observed.zip(shifted).map(|(low, high)| low | high);
            sources.push(Some(source));
        }
        let term = observed.and_then(|observed| self.shadow.symbolic.assembled(&sources, observed));
        if let (Some(term), Some(observed)) = (term, observed) {
            return self.put_term(index, of, term, observed);
        }
        let made = |&source: &Option<Source>| {
            let origin = source.map_or(Origin::NOTHING, |(origin, _)| origin);
            Given { of: None, known: UNKNOWN, origins: [origin, Origin::NOTHING] }
        };
        let made: Vec<Given> = sources.iter().map(made).collect();
        let origin = Origin::Made(self.shadow.symbolic.reads(&made));
        self.put(index, [observed.map(|observed| of.fit(observed)), None], [origin, Origin::NOTHING])
    }

    /// The origin of a byte of thread-local memory before the path.
    fn source(&mut self, at: u64) -> Source {
        let (word, byte) = (at & !7, at & 7);
        let known = self.own.get(&word).and_then(|sources| sources[usize::try_from(byte).ok()?]);
        known.unwrap_or_else(|| {
            let Sets { tracker, thread } = &mut self.shadow.symbolic.sets;
            (Origin::Made(tracker.load(*thread, word, 1 << byte)), 0)
        })
    }

    /// Thread-local memory is written.
    fn store(&mut self, address: u64, size: u32, stored: Given) -> Option<()> {
        self.since += 1;
        for offset in 0..size {
            let known = stored.known[0].and_then(|known| u8::try_from(known >> (8 * offset) & 0xFF).ok());
            let origin = stored.origins[0];
            let place = if matches!(origin, Origin::Term(_)) { offset } else { 0 };
            self.written.insert(address + u64::from(offset), Byte { known, source: (origin, place) });
        }
        Some(())
    }

    /// Constant memory is read.
    fn load_constant(&mut self, index: u32, of: Scalar, bytes: &[Option<u8>]) -> Option<()> {
        self.since += 1;
        let known = bytes.iter().rev().try_fold(0, |all: u64, byte| Some(all << 8 | u64::from((*byte)?)));
        self.put(index, [known.map(|known| of.fit(known)), None], CONSTANT)
    }
}
