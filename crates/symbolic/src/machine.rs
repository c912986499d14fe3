//! Executes a function between two records, along the path that the thread must have taken.
//!
//! A known condition decides a branch. For an unknown one, the branch side must be the only one from which the next
//! record can be reached without another one in between. If several can, what they may have computed is unknown
//! afterwards.

use std::rc::Rc;

use foretell_trace::values::Obstacle;
use foretell_wire::code::{Operand, opcode};
use rustc_hash::FxHashMap;

use crate::code::{FunctionId, Functions, is_call};
use crate::evaluate::{Given, evaluate};
use crate::intrinsic;
use crate::routine::{Goal, Reach, Routine, Routines};
use crate::shadow::{Decision, Done, Shadow};
use crate::shape::Silently;
use crate::terms::{CONSTANT, Origins};
use crate::values::{Known, Scalar, Type, UNKNOWN};

/// Where in a function a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ProgramPoint {
    #[default]
    Unknown,
    /// Before this instruction.
    Before(u32),
    /// At a recorded instruction, which may have more records.
    At(u32),
    /// After this instruction.
    After(u32),
}

/// A call of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) place: ProgramPoint,
    /// What is known of results, parameters and local variables, see [`Routine::place`] and
    /// [`Shape::content`](crate::shape::Shape::content).
    values: Vec<(Known, Origins)>,
    /// What has changed since the last record, and what it was before.
    journal: Vec<(usize, (Known, Origins))>,
}

/// How a walk has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// At its goal, by a known path.
    Exact,
    /// At its goal, by an unknown path.
    Vague,
    /// The computed condition of this branch leads elsewhere.
    Astray(u32),
    /// No path leads to the goal.
    Lost,
}

/// How many branches the paths had, and of how many the condition was known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Decisions {
    pub(crate) met: u64,
    pub(crate) known: u64,
}

/// The most steps between two records, as there may be loops without records.
const MOST_STEPS: u32 = 1 << 16;

/// The deepest nesting of calls without records that is followed.
const DEEPEST: u32 = 8;

impl Frame {
    /// A call of this function with what it was given; where arguments are not what the function expects, nothing is
    /// known.
    pub(crate) fn of(routine: &Routine, arguments: &[Given]) -> Frame {
        let values = vec![(UNKNOWN, CONSTANT); routine.values()];
        let mut frame = Frame { place: ProgramPoint::Before(0), values, journal: Vec::new() };
        for (place, argument) in routine.parameters().zip(arguments) {
            let of = routine.type_at(place);
            let is_as_expected = argument.of.is_none_or(|given| given == of);
            let known = if is_as_expected { of.fit(argument.known) } else { UNKNOWN };
            frame.put(place, known, argument.origins);
        }
        frame
    }

    /// The value of a slot, and its origins.
    pub(crate) fn held(&self, place: usize) -> (Known, Origins) {
        self.values.get(place).copied().unwrap_or((UNKNOWN, CONSTANT))
    }

    pub(crate) fn set(&mut self, place: usize, known: Known) {
        self.put(place, known, CONSTANT);
    }

    /// Sets the value of a slot, and its origins.
    pub(crate) fn put(&mut self, place: usize, known: Known, origins: Origins) {
        if let Some(value) = self.values.get_mut(place) {
            self.journal.push((place, std::mem::replace(value, (known, origins))));
        }
    }

    /// Undoes all changes since the last record.
    pub(crate) fn take_back(&mut self) {
        while let Some((place, value)) = self.journal.pop() {
            self.values[place] = value;
        }
    }

    /// Forgets the results of these instructions.
    pub(crate) fn forget(&mut self, routine: &Routine, instructions: &[u32]) {
        for &index in instructions {
            self.set(index as usize, UNKNOWN);
            for define in routine.shape.step(index).into_iter().flat_map(|step| &step.defines) {
                self.set(define.slot as usize, UNKNOWN);
            }
        }
    }

    /// Forgets all values.
    pub(crate) fn begin_anew(&mut self) {
        self.values.fill((UNKNOWN, CONSTANT));
        self.journal.clear();
        self.place = ProgramPoint::Unknown;
    }
}

/// The program, and how its functions are computed.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) functions: Functions,
    pub(crate) routines: Routines,
    pub(crate) decisions: Decisions,
    /// The thread that is followed.
    pub(crate) thread: u32,
    /// Addresses of variables that the log does not list, by thread, as each may have its own.
    learned: FxHashMap<(u32, FunctionId, u32), u64>,
    /// In how many calls without records it is.
    depth: u32,
    /// How many steps are left until the next record.
    steps: u32,
}

/// Where a step leads.
enum Next {
    To(u32),
    /// To one of several instructions.
    Open,
    /// The computed condition leads away from the goal.
    Astray,
    Nowhere,
}

impl Machine {
    pub(crate) fn routine(&mut self, id: FunctionId) -> Option<Rc<Routine>> {
        self.routines.get(&self.functions, id)
    }

    /// Whether a function may be called while it runs.
    pub(crate) fn may_recur(&mut self, id: FunctionId) -> bool {
        self.routines.may_recur(&self.functions, id)
    }

    /// What is known of an operand.
    pub(crate) fn given(&self, routine: &Routine, frame: &Frame, operand: Operand) -> Given {
        let address = |name: u32, bytes: i64| {
            let learned = || self.learned.get(&(self.thread, routine.id, name)).copied();
            let address = self.functions.address(routine.id, name).or_else(learned);
            let known = [address.map(|address| address.wrapping_add_signed(bytes)), None];
            Given { of: Some(Type::One(Scalar::Pointer)), known, origins: CONSTANT }
        };
        let constant = |bits: u64| Given { of: None, known: [Some(bits), None], origins: CONSTANT };
        match operand {
            Operand::Number(number) => constant(number.cast_unsigned()),
            Operand::Float(bits) => constant(bits),
            Operand::Global(name) => address(name, 0),
            Operand::Within(name, bytes) => address(name, bytes),
            _ => match routine.place(operand) {
                Some(place) => {
                    let (known, origins) = frame.held(place);
                    Given { of: Some(routine.type_at(place)), known, origins }
                }
                None => Given { of: Some(Type::Other), known: UNKNOWN, origins: CONSTANT },
            },
        }
    }

    /// The thread has found the variable of this name at this address.
    pub(crate) fn learn_name(&mut self, routine: &Routine, name: u32, address: u64) {
        self.learned.insert((self.thread, routine.id, name), address);
    }

    fn operands(&self, routine: &Routine, index: u32) -> &[Operand] {
        self.functions.get(routine.id).map_or(&[], |function| function.operands(index))
    }

    /// What an instruction uses, but for blocks.
    pub(crate) fn values(&self, routine: &Routine, index: u32) -> impl Iterator<Item = Operand> {
        let operands = self.operands(routine, index).iter().copied();
        operands.filter(|operand| !matches!(operand, Operand::Block(_)))
    }

    pub(crate) fn opcode(&self, routine: &Routine, index: u32) -> u8 {
        self.functions.get(routine.id).map_or(0, |function| function.opcode(index))
    }

    pub(crate) fn numbers(&self, routine: &Routine, index: u32) -> &[i64] {
        self.functions.get(routine.id).map_or(&[], |function| function.numbers(index))
    }

    /// What is known of what an instruction uses.
    pub(crate) fn all_given(&self, routine: &Routine, frame: &Frame, index: u32) -> Vec<Given> {
        self.values(routine, index).map(|operand| self.given(routine, frame, operand)).collect()
    }

    /// The arguments of a call. For those passed by value, the callee gets the address of a copy.
    pub(crate) fn arguments(&self, routine: &Routine, frame: &Frame, call: u32) -> Vec<Given> {
        let mut given = self.all_given(routine, frame, call);
        given.pop();
        for &position in self.numbers(routine, call) {
            if let Some(argument) =
                usize::try_from(position).ok().and_then(|position| given.get_mut(position))
            {
                argument.known = UNKNOWN;
            }
        }
        given
    }

    /// Executes from the current position up to the goal, and stops before it.
    pub(crate) fn walk(
        &mut self,
        routine: &Rc<Routine>,
        frame: &mut Frame,
        goal: Goal,
        shadow: &mut dyn Shadow,
    ) -> Arrival {
        frame.journal.clear();
        if self.depth == 0 {
            self.steps = MOST_STEPS;
        }
        let reach = self.routines.reach(routine, goal);
        let (mut last, mut next) = match frame.place {
            ProgramPoint::Unknown => return Arrival::Lost,
            ProgramPoint::Before(index) => (index, Next::To(index)),
            ProgramPoint::At(index) => (index, self.pass(routine, frame, index, &reach, shadow)),
            ProgramPoint::After(index) => (index, self.leave(routine, frame, index, &reach, shadow)),
        };
        loop {
            match next {
                Next::Nowhere => return Arrival::Lost,
                Next::Astray => return Arrival::Astray(last),
                Next::Open => return self.lose_way(routine, frame, routine.shape.next(last), goal),
                Next::To(index) if routine.is_goal(index, goal) => {
                    frame.place = ProgramPoint::Before(index);
                    return Arrival::Exact;
                }
                Next::To(index) if !reach.contains(index) => return Arrival::Lost,
                Next::To(index) if self.steps == 0 => return self.lose_way(routine, frame, &[index], goal),
                Next::To(index) => {
                    self.steps -= 1;
                    last = index;
                    next = self.pass(routine, frame, index, &reach, shadow);
                }
            }
        }
    }

    /// The path from one of these instructions to the goal is unknown.
    fn lose_way(&mut self, routine: &Routine, frame: &mut Frame, from: &[u32], goal: Goal) -> Arrival {
        let reach = self.routines.reach(routine, goal);
        frame.forget(routine, &routine.between(from, &reach, goal));
        frame.place = match goal {
            Goal::At(index) => ProgramPoint::Before(index),
            Goal::Return => ProgramPoint::Unknown,
        };
        Arrival::Vague
    }

    /// The thread may have executed this instruction before without a record. What it computed in that loop is unknown.
    pub(crate) fn come_around(&mut self, routine: &Routine, frame: &mut Frame, index: u32) {
        frame.forget(routine, &self.routines.around(routine, index));
    }

    /// Executes an instruction that has no record, and continues after it.
    fn pass(
        &mut self,
        routine: &Rc<Routine>,
        frame: &mut Frame,
        index: u32,
        reach: &Reach,
        shadow: &mut dyn Shadow,
    ) -> Next {
        self.perform(routine, frame, index, shadow);
        self.leave(routine, frame, index, reach, shadow)
    }

    /// Executes an instruction that has no record.
    pub(crate) fn perform(
        &mut self,
        routine: &Routine,
        frame: &mut Frame,
        index: u32,
        shadow: &mut dyn Shadow,
    ) {
        self.hold(routine, frame, index, shadow);
        let (known, origins) = match self.opcode(routine, index) {
            opcode::ALLOCA => (UNKNOWN, CONSTANT),
            opcode::ATOMICRMW | opcode::CMPXCHG => {
                shadow.give_up();
                (UNKNOWN, CONSTANT)
            }
            opcode::LOAD => self.content(routine, frame, index),
            opcode::STORE => {
                self.store(routine, frame, index, shadow);
                (UNKNOWN, CONSTANT)
            }
            opcode if is_call(opcode) => {
                self.touch(routine, frame, index, shadow);
                self.call(routine, frame, index, shadow)
            }
            opcode => {
                let given = self.all_given(routine, frame, index);
                let (of, numbers) = (routine.type_at(index as usize), self.numbers(routine, index));
                let known = evaluate(opcode, numbers, of, &given);
                (known, shadow.result(&Done { opcode, numbers, name: None, of, known, given: &given }))
            }
        };
        frame.put(index as usize, known, origins);
    }

    /// The operands that must keep their values, beside the conditions of branches.
    fn hold(&self, routine: &Routine, frame: &Frame, index: u32, shadow: &mut dyn Shadow) {
        let Some(step) = routine.shape.step(index) else { return shadow.give_up() };
        match self.opcode(routine, index) {
            opcode::BR | opcode::SWITCH | opcode::INDIRECTBR => {}
            opcode @ (opcode::UDIV | opcode::SDIV | opcode::UREM | opcode::SREM) => {
                shadow.divide(opcode, &self.all_given(routine, frame, index));
            }
            _ => {
                for &slot in &step.steering {
                    shadow.hold(&[self.given_at(routine, frame, slot as usize)]);
                }
            }
        }
    }

    /// The value at an address, if it is known.
    pub(crate) fn given_at(&self, routine: &Routine, frame: &Frame, place: usize) -> Given {
        let (known, origins) = frame.held(place);
        Given { of: Some(routine.type_at(place)), known, origins }
    }

    /// The result of a load without a record.
    fn content(&self, routine: &Routine, frame: &Frame, load: u32) -> (Known, Origins) {
        let pointer = self.operands(routine, load).first();
        let slot = pointer.and_then(|&pointer| routine.shape.content(pointer));
        slot.map_or((UNKNOWN, CONSTANT), |slot| {
            let (known, origins) = frame.held(slot as usize);
            (routine.type_at(load as usize).fit(known), origins)
        })
    }

    /// A store without a record. Of variables that are accessed in parts, only the origins are tracked.
    fn store(&self, routine: &Routine, frame: &mut Frame, index: u32, shadow: &mut dyn Shadow) {
        let Some(&value) = self.operands(routine, index).first() else { return };
        let given = self.given(routine, frame, value);
        for define in routine.shape.step(index).into_iter().flat_map(|step| &step.defines) {
            if define.is_whole {
                frame.put(define.slot as usize, given.known, given.origins);
            } else {
                let before = self.given_at(routine, frame, define.slot as usize);
                frame.put(
                    define.slot as usize,
                    UNKNOWN,
                    [shadow.mix(&[before, given], Obstacle::InParts); 2],
                );
            }
        }
    }

    /// A call that may change local variables: only their origins are known afterwards.
    fn touch(&self, routine: &Routine, frame: &mut Frame, index: u32, shadow: &mut dyn Shadow) {
        for define in routine.shape.step(index).into_iter().flat_map(|step| &step.defines) {
            if define.slot != index {
                let from = define.from.iter().chain([&define.slot]);
                let from: Vec<Given> =
                    from.map(|&slot| self.given_at(routine, frame, slot as usize)).collect();
                frame.put(define.slot as usize, UNKNOWN, [shadow.mix(&from, Obstacle::UnknownFunction); 2]);
            }
        }
    }

    /// A call without a record.
    pub(crate) fn call(
        &mut self,
        routine: &Routine,
        frame: &Frame,
        index: u32,
        shadow: &mut dyn Shadow,
    ) -> (Known, Origins) {
        let (of, given) = (routine.type_at(index as usize), self.arguments(routine, frame, index));
        let function = self.functions.get(routine.id);
        let name = function.and_then(|function| function.callee_name(index));
        if let Some(name) = name.filter(|name| name.starts_with("llvm.")) {
            let known = intrinsic::evaluate(name, of, &given);
            let done =
                Done { opcode: opcode::CALL, numbers: &[], name: Some(name), of, known, given: &given };
            return (known, shadow.result(&done));
        }
        let Some(step) = routine.shape.step(index) else {
            shadow.give_up();
            return (UNKNOWN, CONSTANT);
        };
        match step.call.as_deref() {
            Some(call) => match call.silently {
                Silently::As(callee) => {
                    let (known, origins) = self.silent(callee, &given, shadow);
                    (of.fit(known), origins)
                }
                Silently::ByArguments => {
                    shadow.hold(&given);
                    let callee = call.callee.map(|slot| self.given_at(routine, frame, slot as usize));
                    shadow.hold(callee.as_slice());
                    (UNKNOWN, CONSTANT)
                }
            },
            // Assembly that does nothing.
            None => (UNKNOWN, [shadow.mix(&given, Obstacle::UnknownFunction); 2]),
        }
    }

    /// The result of a function without records. The conditions of its branches are not recorded either.
    fn silent(&mut self, callee: FunctionId, given: &[Given], shadow: &mut dyn Shadow) -> (Known, Origins) {
        let Some(routine) = self.routine(callee).filter(|_| self.depth < DEEPEST) else {
            shadow.give_up();
            return (UNKNOWN, CONSTANT);
        };
        let decisions = self.decisions;
        self.depth += 1;
        let mut frame = Frame::of(&routine, given);
        // Variadic arguments are not parameters.
        shadow.hold(given.get(routine.parameters().len()..).unwrap_or_default());
        let returned = self.returned(&routine, &mut frame, shadow);
        self.depth -= 1;
        self.decisions = decisions;
        returned
    }

    /// The result of a call, from its position.
    pub(crate) fn returned(
        &mut self,
        routine: &Rc<Routine>,
        frame: &mut Frame,
        shadow: &mut dyn Shadow,
    ) -> (Known, Origins) {
        match (self.walk(routine, frame, Goal::Return, shadow), frame.place) {
            (Arrival::Exact, ProgramPoint::Before(index)) => {
                let given = self.all_given(routine, frame, index);
                given.first().map_or((UNKNOWN, CONSTANT), |value| (value.known, value.origins))
            }
            _ => {
                shadow.give_up();
                (UNKNOWN, CONSTANT)
            }
        }
    }

    /// Continues after an instruction.
    fn leave(
        &mut self,
        routine: &Rc<Routine>,
        frame: &mut Frame,
        index: u32,
        reach: &Reach,
        shadow: &mut dyn Shadow,
    ) -> Next {
        match *routine.shape.next(index) {
            [] => Next::Nowhere,
            [next] if routine.block(next) == routine.block(index) && next == index + 1 => Next::To(next),
            [next] => Next::To(self.enter_block(routine, frame, index, next)),
            ref ways => self.decide(routine, frame, index, (ways, reach), shadow),
        }
    }

    /// Takes one of several branch sides.
    fn decide(
        &mut self,
        routine: &Rc<Routine>,
        frame: &mut Frame,
        index: u32,
        (ways, reach): (&[u32], &Reach),
        shadow: &mut dyn Shadow,
    ) -> Next {
        self.decisions.met += 1;
        let given = self.all_given(routine, frame, index);
        let (condition, cases) = given.split_first().map_or((None, &[][..]), |(one, rest)| (Some(one), rest));
        let way = condition.and_then(|condition| self.way_by_value(routine, index, condition, cases));
        if let Some((way, condition)) = way.zip(condition) {
            self.decisions.known += 1;
            let is_inner = self.depth > 0;
            let condition = *condition;
            shadow.decide(&Decision { routine, frame, index, condition, cases, way, is_inner });
            return match ways.get(way) {
                Some(&next) if reach.contains(next) => {
                    Next::To(self.enter_block(routine, frame, index, next))
                }
                _ => Next::Astray,
            };
        }
        if !is_call(self.opcode(routine, index)) {
            shadow.hold(&given);
        }
        if reach.goal == Goal::Return {
            // It may have ended by an exception as well.
            shadow.give_up();
        }
        let mut open: Vec<u32> = ways.iter().copied().filter(|&way| reach.contains(way)).collect();
        open.dedup();
        match open[..] {
            [] => Next::Nowhere,
            [next] => Next::To(self.enter_block(routine, frame, index, next)),
            _ => Next::Open,
        }
    }

    /// Which side of a branch is taken, if its condition is known.
    pub(crate) fn way_by_value(
        &self,
        routine: &Routine,
        index: u32,
        condition: &Given,
        cases: &[Given],
    ) -> Option<usize> {
        let value = condition.known[0]?;
        match self.opcode(routine, index) {
            opcode::BR => Some(usize::from(value == 0)),
            opcode::SWITCH => {
                let of = condition.of?.scalar()?;
                let is_case = |case: &Given| case.known[0].map(|case| of.fit(case)) == Some(value);
                Some(cases.iter().position(is_case).map_or(0, |case| case + 1))
            }
            _ => None,
        }
    }

    /// Evaluates the phis of a block, all at once, by the predecessor; returns the first instruction after them.
    pub(crate) fn enter_block(&self, routine: &Routine, frame: &mut Frame, from: u32, to: u32) -> u32 {
        let Some(block) = routine.block(from) else { return to };
        let is_phi = |&index: &u32| self.opcode(routine, index) == opcode::PHI;
        let made: Vec<_> =
            (to..).take_while(is_phi).map(|phi| self.incoming(routine, frame, phi, block)).collect();
        let mut next = to;
        for (known, origins) in made {
            frame.put(next as usize, known, origins);
            next += 1;
        }
        next
    }

    fn incoming(&self, routine: &Routine, frame: &Frame, phi: u32, block: u32) -> (Known, Origins) {
        let (pairs, _) = self.operands(routine, phi).as_chunks();
        let is_from = |&&[_, from]: &&[Operand; 2]| from == Operand::Block(block);
        match pairs.iter().find(is_from) {
            Some(&[value, _]) => {
                let Given { known, origins, .. } = self.given(routine, frame, value);
                let is_exact = self.numbers(routine, phi).is_empty();
                (if is_exact { routine.type_at(phi as usize).fit(known) } else { UNKNOWN }, origins)
            }
            None => (UNKNOWN, CONSTANT),
        }
    }
}
