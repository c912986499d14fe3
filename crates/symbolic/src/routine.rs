//! Functions, prepared for execution.

use std::ops::Range;
use std::rc::Rc;

use foretell_wire::code::{Operand, opcode};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Function, FunctionId, Functions};
use crate::region::Regions;
use crate::shape::{End, Shape};
use crate::values::{Scalar, Type};

/// A function, prepared.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) id: FunctionId,
    pub(crate) shape: Rc<Shape>,
    /// The types of the results, then those of the parameters.
    types: Vec<Type>,
    /// The block that each instruction is in.
    blocks: Vec<u32>,
    /// The predecessors of each instruction.
    before: Vec<Vec<u32>>,
    results: u32,
}

/// The goal of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Goal {
    /// To this instruction.
    At(u32),
    /// Back to the caller.
    Return,
}

/// The instructions from which a goal can be reached without a record in between, and the goal itself.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub(crate) goal: Goal,
    marks: Rc<Vec<bool>>,
}

impl Reach {
    pub(crate) fn contains(&self, index: u32) -> bool {
        self.marks.get(index as usize) == Some(&true)
    }
}

/// All functions that were prepared so far.
#[derive(Debug, Default)]
pub(crate) struct Routines {
    regions: Regions,
    routines: FxHashMap<FunctionId, Option<Rc<Routine>>>,
    reaches: FxHashMap<(FunctionId, Goal), Reach>,
    around: FxHashMap<(FunctionId, u32), Rc<Vec<u32>>>,
    recurring: FxHashMap<FunctionId, bool>,
}

impl Routines {
    /// The function, prepared; none if it is malformed.
    pub(crate) fn get(&mut self, functions: &Functions, id: FunctionId) -> Option<Rc<Routine>> {
        if let Some(routine) = self.routines.get(&id) {
            return routine.clone();
        }
        let shape = self.regions.shape(functions, id);
        let routine =
            functions.get(id).zip(shape).map(|(function, shape)| Rc::new(Routine::new(id, function, shape)));
        self.routines.insert(id, routine.clone());
        routine
    }

    /// The instructions on loops through this one without a record.
    pub(crate) fn around(&mut self, routine: &Routine, index: u32) -> Rc<Vec<u32>> {
        if let Some(around) = self.around.get(&(routine.id, index)) {
            return Rc::clone(around);
        }
        let reach = self.reach(routine, Goal::At(index));
        let found = Rc::new(routine.between(routine.shape.next(index), &reach, Goal::At(index)));
        self.around.insert((routine.id, index), Rc::clone(&found));
        found
    }

    /// Whether a function may be recursive, as far as instrumented code calls it. An indirect call may call any
    /// function.
    pub(crate) fn may_recur(&mut self, functions: &Functions, id: FunctionId) -> bool {
        if let Some(&recurs) = self.recurring.get(&id) {
            return recurs;
        }
        let (mut open, mut seen, mut recurs) = (vec![id], FxHashSet::default(), false);
        while let Some(next) = open.pop() {
            let routine = self.get(functions, next);
            for call in routine.iter().flat_map(|routine| routine.shape.calls()) {
                let callees = call.name.map_or(&[][..], |name| functions.named(name));
                recurs |= !call.is_direct || callees.contains(&id);
                open.extend(callees.iter().filter(|&&callee| seen.insert(callee)));
            }
        }
        self.recurring.insert(id, recurs);
        recurs
    }

    /// From where in a function a goal can be reached.
    pub(crate) fn reach(&mut self, routine: &Routine, goal: Goal) -> Reach {
        let reach = self.reaches.entry((routine.id, goal));
        reach.or_insert_with(|| Reach { goal, marks: Rc::new(routine.reach(goal)) }).clone()
    }
}

impl Routine {
    fn new(id: FunctionId, function: &Function, shape: Rc<Shape>) -> Routine {
        let results = function.len();
        let of_results = (0..results).map(|index| result_type(function, index));
        let types = of_results.chain(function.parameter_types().map(Type::parse)).collect();
        let lengths = (0..).zip(function.blocks());
        let blocks = lengths.flat_map(|(block, &length)| (0..length).map(move |_| block)).collect();
        let mut before = vec![Vec::new(); results as usize];
        for index in 0..results {
            for &next in shape.next(index) {
                if let Some(before) = before.get_mut(next as usize) {
                    before.push(index);
                }
            }
        }
        Routine { id, shape, types, blocks, before, results }
    }

    /// How many values a call of it has: results, parameters, and the contents of thread-local variables.
    pub(crate) fn values(&self) -> usize {
        self.shape.slots as usize
    }

    /// Where the values of parameters are kept.
    pub(crate) fn parameters(&self) -> Range<usize> {
        self.results as usize..self.types.len()
    }

    /// Where the value of an operand is kept, if it is no constant.
    pub(crate) fn place(&self, operand: Operand) -> Option<usize> {
        match operand {
            Operand::Instruction(index) => Some(index as usize).filter(|_| index < self.results),
            Operand::Parameter(index) => self.parameters().nth(index as usize),
            _ => None,
        }
    }

    /// The type of what is kept at a place.
    pub(crate) fn type_at(&self, place: usize) -> Type {
        self.types.get(place).copied().unwrap_or(Type::Other)
    }

    /// The block of an instruction.
    pub(crate) fn block(&self, index: u32) -> Option<u32> {
        self.blocks.get(index as usize).copied()
    }

    /// The instruction leaves a record.
    pub(crate) fn is_recorded(&self, index: u32) -> bool {
        self.shape.step(index).is_some_and(|step| step.is_recorded)
    }

    /// Whether this is where the function returns.
    fn returns(&self, index: u32) -> bool {
        self.shape.step(index).is_some_and(|step| matches!(step.end, Some(End::Return(_))))
    }

    /// Whether a thread before this instruction has reached the goal.
    pub(crate) fn is_goal(&self, index: u32, goal: Goal) -> bool {
        match goal {
            Goal::At(goal) => goal == index,
            Goal::Return => self.returns(index),
        }
    }

    fn reach(&self, goal: Goal) -> Vec<bool> {
        let mut reach = vec![false; self.results as usize];
        let mut open: Vec<u32> = (0..self.results).filter(|&index| self.is_goal(index, goal)).collect();
        for &index in &open {
            mark(&mut reach, index);
        }
        while let Some(index) = open.pop() {
            for &before in self.before.get(index as usize).into_iter().flatten() {
                if !self.is_recorded(before) && mark(&mut reach, before) {
                    open.push(before);
                }
            }
        }
        reach
    }

    /// The instructions on paths from one of these within a reach.
    pub(crate) fn between(&self, from: &[u32], reach: &Reach, goal: Goal) -> Vec<u32> {
        let (mut found, mut seen) = (Vec::new(), vec![false; self.results as usize]);
        let mut open = from.to_vec();
        while let Some(index) = open.pop() {
            // A goal with a record is not executed.
            let is_passed = reach.contains(index) && (goal != Goal::At(index) || !self.is_recorded(index));
            if is_passed && mark(&mut seen, index) {
                found.push(index);
                open.extend_from_slice(self.shape.next(index));
            }
        }
        found
    }
}

/// Says whether it was not marked before.
fn mark(marks: &mut [bool], index: u32) -> bool {
    marks.get_mut(index as usize).is_some_and(|mark| !std::mem::replace(mark, true))
}

/// The type of a result. For a store, the table has the type of its operand, and for an `alloca` the allocated type.
fn result_type(function: &Function, index: u32) -> Type {
    match function.opcode(index) {
        opcode::STORE => Type::Other,
        opcode::ALLOCA => Type::One(Scalar::Pointer),
        _ => {
            function.instruction(index).map_or(Type::Other, |about| Type::parse(function.text(about.result)))
        }
    }
}
