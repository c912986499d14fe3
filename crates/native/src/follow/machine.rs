//! Computing again what a function has computed between two records, on the way that it must have gone.
//!
//! Where a condition is known, that is the way that it tells. Where it is not, it is the only way on which the next record can be
//! reached without another one before. If there are several, nothing is known any more of what they may have computed.

use std::rc::Rc;

use foretell_wire::code::{Operand, opcode};
use rustc_hash::FxHashMap;

use super::code::{FunctionId, Functions, is_call};
use super::evaluate::{Given, evaluate};
use super::intrinsic;
use super::routine::{Goal, Reach, Routine, Routines};
use super::shape::Silently;
use super::values::{Known, Scalar, Type, UNKNOWN};

/// Where in a function a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Place {
    #[default]
    Unknown,
    /// It is about to do this.
    Before(u32),
    /// It was recorded there, and may be recorded there again.
    At(u32),
    /// It has done this.
    After(u32),
}

/// A call of a function.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) place: Place,
    /// What is known of results, parameters and local variables, see [`Routine::place`] and [`Shape::content`](super::shape::Shape::content).
    values: Vec<Known>,
}

/// How a walk has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// Where it should; every step of it is known.
    Exact,
    /// Where it should, but nobody knows how.
    Vague,
    /// What was computed leads elsewhere at this decision.
    Astray(u32),
    /// No way leads there.
    Lost,
}

/// How many decisions were met on walks, and of how many the condition was known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Decisions {
    pub(super) met: u64,
    pub(super) known: u64,
}

/// On the way from one record to another no more steps are made: there may be loops without records.
const MOST_STEPS: u32 = 1 << 16;

/// Of calls within calls without records no more are followed.
const DEEPEST: u32 = 8;

impl Frame {
    /// A call of this function with what it was given; where arguments are not what the function expects, nothing is known.
    pub(super) fn of(routine: &Routine, arguments: &[Given]) -> Frame {
        let mut frame = Frame { place: Place::Before(0), values: vec![UNKNOWN; routine.values()] };
        for (place, argument) in routine.parameters().zip(arguments) {
            let of = routine.type_at(place);
            if argument.of.is_none_or(|given| given == of) {
                frame.set(place, of.fit(argument.known));
            }
        }
        frame
    }

    pub(super) fn get(&self, place: usize) -> Known {
        self.values.get(place).copied().unwrap_or(UNKNOWN)
    }

    pub(super) fn set(&mut self, place: usize, known: Known) {
        if let Some(value) = self.values.get_mut(place) {
            *value = known;
        }
    }

    /// Nothing is known any more of what these instructions define.
    pub(super) fn forget(&mut self, routine: &Routine, instructions: &[u32]) {
        for &index in instructions {
            self.set(index as usize, UNKNOWN);
            for define in routine.shape.step(index).into_iter().flat_map(|step| &step.defines) {
                self.set(define.slot as usize, UNKNOWN);
            }
        }
    }

    /// Nothing is known any more.
    pub(super) fn begin_anew(&mut self) {
        self.values.fill(UNKNOWN);
        self.place = Place::Unknown;
    }
}

/// The program, and how its functions are computed.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) functions: Functions,
    pub(super) routines: Routines,
    pub(super) decisions: Decisions,
    /// The thread that is followed.
    pub(super) thread: u32,
    /// Where threads have found variables of which the log does not tell that. Each thread may have its own.
    learned: FxHashMap<(u32, FunctionId, u32), u64>,
    /// In how many calls without records it is.
    depth: u32,
    /// How many steps are left until the next record.
    steps: u32,
}

/// Where a step leads.
enum Next {
    To(u32),
    /// To one of several.
    Open,
    /// What was computed leads away from the goal.
    Astray,
    Nowhere,
}

impl Machine {
    pub(super) fn routine(&mut self, id: FunctionId) -> Option<Rc<Routine>> {
        self.routines.get(&self.functions, id)
    }

    /// Whether a function may be called while it runs.
    pub(super) fn may_recur(&mut self, id: FunctionId) -> bool {
        self.routines.may_recur(&self.functions, id)
    }

    /// What is known of an operand.
    pub(super) fn given(&self, routine: &Routine, frame: &Frame, operand: Operand) -> Given {
        let address = |name: u32, bytes: i64| {
            let learned = || self.learned.get(&(self.thread, routine.id, name)).copied();
            let address = self.functions.address(routine.id, name).or_else(learned);
            let known = [address.map(|address| address.wrapping_add_signed(bytes)), None];
            Given { of: Some(Type::One(Scalar::Pointer)), known }
        };
        match operand {
            Operand::Number(number) => Given { of: None, known: [Some(number.cast_unsigned()), None] },
            Operand::Float(bits) => Given { of: None, known: [Some(bits), None] },
            Operand::Global(name) => address(name, 0),
            Operand::Within(name, bytes) => address(name, bytes),
            _ => match routine.place(operand) {
                Some(place) => Given { of: Some(routine.type_at(place)), known: frame.get(place) },
                None => Given { of: Some(Type::Other), known: UNKNOWN },
            },
        }
    }

    /// The thread has found a variable there that a function knows by this name.
    pub(super) fn learn(&mut self, routine: &Routine, name: u32, address: u64) {
        self.learned.insert((self.thread, routine.id, name), address);
    }

    fn operands(&self, routine: &Routine, index: u32) -> &[Operand] {
        self.functions.get(routine.id).map_or(&[], |function| function.operands(index))
    }

    /// What an instruction uses, but for blocks.
    pub(super) fn values(&self, routine: &Routine, index: u32) -> impl Iterator<Item = Operand> {
        let operands = self.operands(routine, index).iter().copied();
        operands.filter(|operand| !matches!(operand, Operand::Block(_)))
    }

    pub(super) fn opcode(&self, routine: &Routine, index: u32) -> u8 {
        self.functions.get(routine.id).map_or(0, |function| function.opcode(index))
    }

    pub(super) fn numbers(&self, routine: &Routine, index: u32) -> &[i64] {
        self.functions.get(routine.id).map_or(&[], |function| function.numbers(index))
    }

    /// What is known of what an instruction uses.
    pub(super) fn all_given(&self, routine: &Routine, frame: &Frame, index: u32) -> Vec<Given> {
        self.values(routine, index).map(|operand| self.given(routine, frame, operand)).collect()
    }

    /// What a call passes. Of what is passed by value the callee gets the address of a copy.
    pub(super) fn arguments(&self, routine: &Routine, frame: &Frame, call: u32) -> Vec<Given> {
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

    /// Goes on from where a thread is to its goal. If it comes there, it stands before that.
    pub(super) fn walk(&mut self, routine: &Routine, frame: &mut Frame, goal: Goal) -> Arrival {
        if self.depth == 0 {
            self.steps = MOST_STEPS;
        }
        let reach = self.routines.reach(routine, goal);
        let (mut last, mut next) = match frame.place {
            Place::Unknown => return Arrival::Lost,
            Place::Before(index) => (index, Next::To(index)),
            Place::At(index) => (index, self.pass(routine, frame, index, &reach)),
            Place::After(index) => (index, self.leave(routine, frame, index, &reach)),
        };
        loop {
            match next {
                Next::Nowhere => return Arrival::Lost,
                Next::Astray => return Arrival::Astray(last),
                Next::Open => return self.lose_way(routine, frame, routine.shape.next(last), goal),
                Next::To(index) if routine.is_goal(index, goal) => {
                    frame.place = Place::Before(index);
                    return Arrival::Exact;
                }
                Next::To(index) if !reach.contains(index) => return Arrival::Lost,
                Next::To(index) if self.steps == 0 => return self.lose_way(routine, frame, &[index], goal),
                Next::To(index) => {
                    self.steps -= 1;
                    last = index;
                    next = self.pass(routine, frame, index, &reach);
                }
            }
        }
    }

    /// Nobody knows how a thread comes from one of these to its goal.
    fn lose_way(&mut self, routine: &Routine, frame: &mut Frame, from: &[u32], goal: Goal) -> Arrival {
        let reach = self.routines.reach(routine, goal);
        frame.forget(routine, &routine.between(from, &reach, goal));
        frame.place = match goal {
            Goal::At(index) => Place::Before(index),
            Goal::Return => Place::Unknown,
        };
        Arrival::Vague
    }

    /// A thread that is at an instruction may have passed it before without a record. Nothing is known of what it has computed on its
    /// way around.
    pub(super) fn come_around(&mut self, routine: &Routine, frame: &mut Frame, index: u32) {
        frame.forget(routine, &self.routines.around(routine, index));
    }

    /// Does what an instruction does, if no record tells of it.
    fn pass(&mut self, routine: &Routine, frame: &mut Frame, index: u32, reach: &Reach) -> Next {
        let known = match self.opcode(routine, index) {
            opcode::ALLOCA | opcode::ATOMICRMW | opcode::CMPXCHG => UNKNOWN,
            opcode::LOAD => self.content(routine, frame, index),
            opcode::STORE => {
                self.store(routine, frame, index);
                UNKNOWN
            }
            opcode if is_call(opcode) => self.call(routine, frame, index),
            opcode => {
                let given = self.all_given(routine, frame, index);
                let result = routine.type_at(index as usize);
                evaluate(opcode, self.numbers(routine, index), result, &given)
            }
        };
        frame.set(index as usize, known);
        self.leave(routine, frame, index, reach)
    }

    /// What a load finds that leaves no record.
    fn content(&self, routine: &Routine, frame: &Frame, load: u32) -> Known {
        let pointer = self.operands(routine, load).first();
        let slot = pointer.and_then(|&pointer| routine.shape.content(pointer));
        slot.map_or(UNKNOWN, |slot| routine.type_at(load as usize).fit(frame.get(slot as usize)))
    }

    /// A store that leaves no record. Of variables that are accessed piece by piece nothing is known.
    fn store(&self, routine: &Routine, frame: &mut Frame, index: u32) {
        let Some(&value) = self.operands(routine, index).first() else { return };
        let known = self.given(routine, frame, value).known;
        for define in routine.shape.step(index).into_iter().flat_map(|step| &step.defines) {
            frame.set(define.slot as usize, if define.is_whole { known } else { UNKNOWN });
        }
    }

    /// A call that leaves no record.
    pub(super) fn call(&mut self, routine: &Routine, frame: &Frame, index: u32) -> Known {
        let (result, given) = (routine.type_at(index as usize), self.arguments(routine, frame, index));
        let name = self.functions.get(routine.id).and_then(|function| function.callee_name(index));
        if let Some(name) = name.filter(|name| name.starts_with("llvm.")) {
            return intrinsic::evaluate(name, result, &given);
        }
        let call = routine.shape.step(index).and_then(|step| step.call.as_deref());
        match call.map(|call| call.silently) {
            Some(Silently::As(callee)) => result.fit(self.silent(callee, &given)),
            _ => UNKNOWN,
        }
    }

    /// What a function returns that leaves no record. What it decides by is nowhere to be seen.
    pub(super) fn silent(&mut self, callee: FunctionId, given: &[Given]) -> Known {
        let Some(routine) = self.routine(callee).filter(|_| self.depth < DEEPEST) else { return UNKNOWN };
        let decisions = self.decisions;
        self.depth += 1;
        let mut frame = Frame::of(&routine, given);
        let returned = self.returned(&routine, &mut frame);
        self.depth -= 1;
        self.decisions = decisions;
        returned
    }

    /// What a call returns, from where it is.
    pub(super) fn returned(&mut self, routine: &Routine, frame: &mut Frame) -> Known {
        match (self.walk(routine, frame, Goal::Return), frame.place) {
            (Arrival::Exact, Place::Before(index)) => {
                let given = self.all_given(routine, frame, index);
                given.first().map_or(UNKNOWN, |value| value.known)
            }
            _ => UNKNOWN,
        }
    }

    /// Goes on after an instruction.
    fn leave(&mut self, routine: &Routine, frame: &mut Frame, index: u32, reach: &Reach) -> Next {
        match *routine.shape.next(index) {
            [] => Next::Nowhere,
            [next] if routine.block(next) == routine.block(index) && next == index + 1 => Next::To(next),
            [next] => Next::To(self.enter_block(routine, frame, index, next)),
            ref ways => self.decide(routine, frame, index, ways, reach),
        }
    }

    /// Goes one of several ways.
    fn decide(
        &mut self,
        routine: &Routine,
        frame: &mut Frame,
        index: u32,
        ways: &[u32],
        reach: &Reach,
    ) -> Next {
        self.decisions.met += 1;
        if let Some(way) = self.way_by_value(routine, frame, index) {
            self.decisions.known += 1;
            return match ways.get(way) {
                Some(&next) if reach.contains(next) => {
                    Next::To(self.enter_block(routine, frame, index, next))
                }
                _ => Next::Astray,
            };
        }
        let mut open: Vec<u32> = ways.iter().copied().filter(|&way| reach.contains(way)).collect();
        open.dedup();
        match open[..] {
            [] => Next::Nowhere,
            [next] => Next::To(self.enter_block(routine, frame, index, next)),
            _ => Next::Open,
        }
    }

    /// Which way a decision goes, if what it goes by is known.
    fn way_by_value(&self, routine: &Routine, frame: &Frame, index: u32) -> Option<usize> {
        let given = self.all_given(routine, frame, index);
        let (condition, cases) = given.split_first()?;
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

    /// Makes the values at the beginning of a block, all at once, by the block that the thread comes from; the first
    /// instruction after them.
    fn enter_block(&self, routine: &Routine, frame: &mut Frame, from: u32, to: u32) -> u32 {
        let Some(block) = routine.block(from) else { return to };
        let is_phi = |&index: &u32| self.opcode(routine, index) == opcode::PHI;
        let made: Vec<_> =
            (to..).take_while(is_phi).map(|phi| self.incoming(routine, frame, phi, block)).collect();
        let mut next = to;
        for known in made {
            frame.set(next as usize, known);
            next += 1;
        }
        next
    }

    fn incoming(&self, routine: &Routine, frame: &Frame, phi: u32, block: u32) -> Known {
        let (pairs, _) = self.operands(routine, phi).as_chunks();
        let is_from = |&&[_, from]: &&[Operand; 2]| from == Operand::Block(block);
        match pairs.iter().find(is_from) {
            Some(&[value, _]) if self.numbers(routine, phi).is_empty() => {
                routine.type_at(phi as usize).fit(self.given(routine, frame, value).known)
            }
            _ => UNKNOWN,
        }
    }
}
