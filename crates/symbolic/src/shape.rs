//! The effects of the instructions of a function that have no record: which values depend on which, and which decide
//! branches.
//!
//! Values are kept in slots: one for the result of each instruction, one for each parameter, and one for the content of
//! each local variable whose address does not escape.

use foretell_wire::code::{Operand, opcode};

use crate::code::{Function, FunctionId, Functions, is_call};
use crate::known;

/// A function with more parameters is malformed.
const MOST_PARAMETERS: u32 = 1 << 12;

/// The place of a value in a frame.
pub(crate) type Slot = u32;

/// A value that depends on others.
#[derive(Clone, Debug)]
pub(crate) struct Define {
    pub(crate) slot: Slot,
    pub(crate) from: Vec<Slot>,
    /// The old value is overwritten.
    pub(crate) is_whole: bool,
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The number of the callee's name, if it is called by name and any function has that.
    pub(crate) name: Option<u32>,
    /// The callee is called by name.
    pub(crate) is_direct: bool,
    /// The effect if the callee leaves no record.
    pub(crate) silently: Silently,
    /// The slots of what is passed; none for constants.
    pub(crate) arguments: Vec<Option<Slot>>,
    /// The slot of what is called.
    pub(crate) callee: Option<Slot>,
}

/// What a call without a record does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Silently {
    /// What this function does from its beginning to its end.
    As(FunctionId),
    /// It depends on its arguments, and branches on them.
    ByArguments,
}

/// How a function ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It returns this.
    Return(Option<Slot>),
    /// By an exception, or with the thread.
    Other,
}

/// What an instruction does.
#[derive(Clone, Debug, Default)]
pub(crate) struct InstructionEffect {
    /// It leaves a record.
    pub(crate) is_recorded: bool,
    /// Its effect is unknown.
    pub(crate) is_unknown: bool,
    /// Instrumented functions may be called from here without a record of the call.
    pub(crate) calls_back: bool,
    pub(crate) call: Option<Box<Call>>,
    /// The slots that its branch depends on.
    pub(crate) steering: Vec<Slot>,
    pub(crate) defines: Vec<Define>,
    pub(crate) end: Option<End>,
}

/// A function, prepared.
#[derive(Debug)]
pub(crate) struct Shape {
    /// How many slots a frame has.
    pub(crate) slots: u32,
    results: u32,
    pub(crate) parameters: u32,
    /// The first instruction of each block.
    starts: Vec<u32>,
    pub(crate) steps: Vec<InstructionEffect>,
    /// Whether the result of each instruction is used where something may have been recorded since.
    pub(crate) lasts: Vec<bool>,
    /// The local variable that the result of each instruction points into, if it does.
    bases: Vec<Option<u32>>,
    /// The slot of the content of each local variable, by its instruction.
    contents: Vec<Option<Slot>>,
    /// The successors of each instruction.
    next: Vec<Vec<u32>>,
    /// Whether an unrecorded long jump may lead here.
    pub(crate) is_returned_to: bool,
}

impl Shape {
    /// None if the function is malformed.
    pub(crate) fn of(functions: &Functions, id: FunctionId) -> Option<Shape> {
        let function = functions.get(id).filter(|function| function.parameters() <= MOST_PARAMETERS)?;
        let starts = starts(function)?;
        let bases = bases(function);
        let (contents, wholes) = contents(function, &bases);
        let results = function.len();
        let kept = u32::try_from(contents.iter().flatten().count()).ok()?;
        let slots = results.checked_add(function.parameters())?.checked_add(kept)?;
        let mut shape = Shape {
            slots,
            results,
            parameters: function.parameters(),
            starts,
            steps: Vec::new(),
            lasts: Vec::new(),
            bases,
            contents,
            next: Vec::new(),
            is_returned_to: (0..results)
                .any(|index| function.callee_name(index).is_some_and(known::returns_twice)),
        };
        for index in 0..results {
            let next = shape.successors(function, index);
            shape.next.push(next);
        }
        let maker = Maker { functions, id, function, shape: &shape, wholes: &wholes };
        let steps = (0..results).map(|index| maker.step(index)).collect();
        shape.lasts = lasts(function, &shape);
        shape.steps = steps;
        Some(shape)
    }

    pub(crate) fn step(&self, index: u32) -> Option<&InstructionEffect> {
        self.steps.get(index as usize)
    }

    /// The calls in it.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().filter_map(|step| step.call.as_deref())
    }

    pub(crate) fn next(&self, index: u32) -> &[u32] {
        self.next.get(index as usize).map_or(&[], Vec::as_slice)
    }

    fn successors(&self, function: &Function, index: u32) -> Vec<u32> {
        let block = |operand: &Operand| match operand {
            Operand::Block(block) => self.starts.get(*block as usize).copied(),
            _ => None,
        };
        let ends_block = self.starts.binary_search(&(index + 1)).is_ok() || index + 1 == self.results;
        if ends_block { function.operands(index).iter().filter_map(block).collect() } else { vec![index + 1] }
    }

    /// The slot of what an instruction uses; none for constants.
    pub(crate) fn slot(&self, operand: Operand) -> Option<Slot> {
        match operand {
            // The address of a local variable depends on nothing.
            Operand::Instruction(index) if self.bases.get(index as usize) == Some(&Some(index)) => None,
            Operand::Instruction(index) if index < self.results => Some(index),
            Operand::Parameter(index) if index < self.parameters => Some(self.results + index),
            _ => None,
        }
    }

    pub(crate) fn parameter(&self, index: u32) -> Slot {
        self.results + index
    }

    /// Which parameter a slot is, if it is one.
    pub(crate) fn parameter_at(&self, slot: Slot) -> Option<u32> {
        slot.checked_sub(self.results).filter(|&index| index < self.parameters)
    }

    /// The slot of the content of the local variable that a pointer leads into.
    pub(crate) fn content(&self, pointer: Operand) -> Option<Slot> {
        let Operand::Instruction(index) = pointer else { return None };
        let base = (*self.bases.get(index as usize)?)?;
        *self.contents.get(base as usize)?
    }
}

/// The first instruction of each block.
fn starts(function: &Function) -> Option<Vec<u32>> {
    let (mut starts, mut start) = (Vec::new(), 0_u32);
    for &length in function.blocks() {
        starts.push(start);
        start = start.checked_add(length).filter(|_| length > 0)?;
    }
    (start == function.len() && start > 0).then_some(starts)
}

/// The `alloca` that each pointer is computed from, as far as that is direct.
fn bases(function: &Function) -> Vec<Option<u32>> {
    let base = |index: u32| {
        let mut at = index;
        for _ in 0..function.len() {
            match (function.opcode(at), function.operands(at).first()) {
                (opcode::ALLOCA, _) => return Some(at),
                (opcode::GETELEMENTPTR | opcode::BITCAST, Some(&Operand::Instruction(from))) => at = from,
                _ => return None,
            }
        }
        None
    };
    (0..function.len()).map(base).collect()
}

/// Intrinsics that are given the address of a variable, but do not pass it on.
fn keeps_address(name: &str) -> bool {
    ["llvm.lifetime", "llvm.mem", "llvm.dbg"].iter().any(|known| name.starts_with(known))
}

/// The slots of those local variables whose address is used to access memory and for nothing else; and of these,
/// which are always accessed as a whole.
fn contents(function: &Function, bases: &[Option<u32>]) -> (Vec<Option<Slot>>, Vec<bool>) {
    let mut stays: Vec<bool> =
        (0..function.len()).map(|index| function.opcode(index) == opcode::ALLOCA).collect();
    let mut wholes: Vec<bool> =
        (0..function.len()).map(|index| function.operands(index) == [Operand::Number(1)]).collect();
    for user in 0..function.len() {
        for (position, operand) in function.operands(user).iter().enumerate() {
            let Operand::Instruction(used) = *operand else { continue };
            let Some(base) = bases.get(used as usize).copied().flatten() else { continue };
            let (stays, whole) = (&mut stays[base as usize], &mut wholes[base as usize]);
            let same_type = || {
                let of = |index| function.instruction(index).map(|instruction| instruction.result);
                used == base && of(user) == of(base)
            };
            match (function.opcode(user), position) {
                (opcode::LOAD, _) | (opcode::STORE, 1) => *whole &= same_type(),
                (opcode::ICMP, _) => {}
                (opcode::GETELEMENTPTR | opcode::BITCAST, 0) => *whole = false,
                (opcode::CALL, _) if function.callee_name(user).is_some_and(keeps_address) => {
                    let is_access =
                        function.callee_name(user).is_some_and(|name| name.starts_with("llvm.mem"));
                    *whole &= !is_access;
                }
                _ => *stays = false,
            }
        }
    }
    let mut next = function.len().saturating_add(function.parameters());
    let slot = |stays: bool| {
        let slot = stays.then_some(next);
        next += u32::from(stays);
        slot
    };
    (stays.into_iter().map(slot).collect(), wholes)
}

/// Whether each result is used where something may have been recorded since it was defined.
fn lasts(function: &Function, shape: &Shape) -> Vec<bool> {
    let records = |index: u32| function.mark(index).has_site || is_call(function.opcode(index));
    // For each instruction, how many blocks have begun and how many instructions that may record were passed.
    let (mut places, mut passed, mut block) = (Vec::new(), 0_u32, 0_u32);
    for index in 0..function.len() {
        block += u32::from(shape.starts.binary_search(&index).is_ok());
        places.push((block, passed));
        passed += u32::from(records(index));
    }
    let mut lasts = vec![false; places.len()];
    for user in 0..function.len() {
        for operand in function.operands(user) {
            let Operand::Instruction(used) = *operand else { continue };
            let (Some(&(block, passed)), Some(place)) =
                (places.get(user as usize), places.get(used as usize))
            else {
                continue;
            };
            let between = passed + u32::from(records(user));
            if used >= user || (block, between) != *place {
                lasts[used as usize] = true;
            }
        }
    }
    lasts
}

/// Makes the steps of a function.
struct Maker<'a> {
    functions: &'a Functions,
    id: FunctionId,
    function: &'a Function,
    shape: &'a Shape,
    wholes: &'a [bool],
}

impl Maker<'_> {
    fn slots(&self, operands: impl IntoIterator<Item = Operand>) -> Vec<Slot> {
        operands.into_iter().filter_map(|operand| self.shape.slot(operand)).collect()
    }

    fn operand(&self, index: u32, position: usize) -> Operand {
        self.function.operands(index).get(position).copied().unwrap_or(Operand::Other)
    }

    /// The result depends on these.
    fn result(&self, index: u32, from: Vec<Slot>) -> Define {
        Define { slot: index, from, is_whole: true }
    }

    fn step(&self, index: u32) -> InstructionEffect {
        let mark = self.function.mark(index);
        let marked = |step: InstructionEffect| InstructionEffect { is_recorded: mark.is_recorded, ..step };
        match self.function.opcode(index) {
            opcode::RET => {
                let value = self.function.values(index).next().and_then(|value| self.shape.slot(value));
                InstructionEffect { end: Some(End::Return(value)), ..InstructionEffect::default() }
            }
            opcode::RESUME | opcode::UNREACHABLE => {
                InstructionEffect { end: Some(End::Other), ..InstructionEffect::default() }
            }
            opcode::BR | opcode::SWITCH | opcode::INDIRECTBR => InstructionEffect {
                steering: self.slots(self.function.values(index)),
                ..InstructionEffect::default()
            },
            opcode::UDIV | opcode::SDIV | opcode::UREM | opcode::SREM => InstructionEffect {
                steering: self.slots(self.traps_by(index)),
                defines: vec![self.result(index, self.slots(self.function.values(index)))],
                ..InstructionEffect::default()
            },
            opcode::ALLOCA => InstructionEffect {
                steering: self.slots(self.function.values(index)),
                ..InstructionEffect::default()
            },
            opcode::PHI => {
                InstructionEffect { defines: vec![self.phi(index)], ..InstructionEffect::default() }
            }
            opcode::LOAD => marked(self.load(index)),
            opcode::STORE => marked(self.store(index)),
            opcode::ATOMICRMW | opcode::CMPXCHG => {
                marked(InstructionEffect { is_unknown: true, ..InstructionEffect::default() })
            }
            opcode if is_call(opcode) => self.call(index),
            _ => InstructionEffect {
                defines: vec![self.result(index, self.slots(self.function.values(index)))],
                ..InstructionEffect::default()
            },
        }
    }

    /// The condition of a defined division: the divisor is not 0, and not -1 for the smallest number.
    fn traps_by(&self, index: u32) -> Vec<Operand> {
        let divisor = self.operand(index, 1);
        let is_signed = matches!(self.function.opcode(index), opcode::SDIV | opcode::SREM);
        let is_harmless = matches!(divisor, Operand::Number(number) if number != 0 && number != -1);
        let dividend = (is_signed && !is_harmless).then(|| self.operand(index, 0));
        dividend.into_iter().chain([divisor]).collect()
    }

    /// Phis are evaluated all at once, but visited one after the other: one that depends on another also keeps its old
    /// value, on which the other may depend in turn.
    fn phi(&self, index: u32) -> Define {
        let is_phi = |value: Operand| matches!(value, Operand::Instruction(other) if self.function.opcode(other) == opcode::PHI);
        let is_whole = !self.function.values(index).any(is_phi);
        Define { is_whole, ..self.result(index, self.slots(self.function.values(index))) }
    }

    /// A load without a record is one of a thread-local variable or of a constant.
    fn load(&self, index: u32) -> InstructionEffect {
        let pointer = self.operand(index, 0);
        let from = match self.shape.content(pointer) {
            Some(content) => vec![content],
            None if self.is_constant(pointer) => Vec::new(),
            None => return InstructionEffect { is_unknown: true, ..InstructionEffect::default() },
        };
        let defines = vec![self.result(index, from)];
        InstructionEffect { steering: self.slots([pointer]), defines, ..InstructionEffect::default() }
    }

    /// Whether the pointer leads into a variable with a name.
    fn is_constant(&self, pointer: Operand) -> bool {
        let mut at = pointer;
        for _ in 0..self.function.len() {
            match at {
                Operand::Global(_) | Operand::Within(..) => return true,
                Operand::Instruction(index)
                    if matches!(self.function.opcode(index), opcode::GETELEMENTPTR | opcode::BITCAST) =>
                {
                    at = self.operand(index, 0);
                }
                _ => return false,
            }
        }
        false
    }

    fn store(&self, index: u32) -> InstructionEffect {
        let (value, pointer) = (self.operand(index, 0), self.operand(index, 1));
        let Some(slot) = self.shape.content(pointer) else {
            return InstructionEffect { is_unknown: true, ..InstructionEffect::default() };
        };
        let is_whole = match pointer {
            Operand::Instruction(index) => self.wholes.get(index as usize).copied().unwrap_or(false),
            _ => false,
        };
        let defines = vec![Define { slot, from: self.slots([value]), is_whole }];
        InstructionEffect { steering: self.slots([pointer]), defines, ..InstructionEffect::default() }
    }

    fn call(&self, index: u32) -> InstructionEffect {
        let Some((arguments, callee)) = self.function.call(index) else {
            return InstructionEffect { is_unknown: true, calls_back: true, ..InstructionEffect::default() };
        };
        let mark = self.function.mark(index);
        let name = self.function.callee_name(index);
        if let Some(name) = name.filter(|name| name.starts_with("llvm.")) {
            return InstructionEffect {
                is_recorded: mark.is_recorded,
                ..self.intrinsic(index, name, arguments)
            };
        }
        if callee == Operand::Other {
            // Assembly that does nothing has no hook.
            let defines = vec![self.result(index, self.slots(arguments.iter().copied()))];
            return InstructionEffect { is_recorded: mark.has_site, defines, ..InstructionEffect::default() };
        }
        let known = name.and_then(|name| self.functions.known_name(name));
        let beside = known.and_then(|name| self.functions.beside(self.id, name));
        let silently = match beside.filter(|_| !mark.is_recorded) {
            Some(function) => Silently::As(function),
            None => Silently::ByArguments,
        };
        // A library function: its effect on memory is known, or it has a record.
        let is_outside = name.is_some() && known.is_none();
        let is_unknown = is_outside && !mark.is_recorded && !name.is_some_and(known::is_plain);
        let call = Call {
            name: known,
            is_direct: name.is_some(),
            silently,
            arguments: arguments.iter().map(|&argument| self.shape.slot(argument)).collect(),
            callee: self.shape.slot(callee),
        };
        InstructionEffect {
            is_recorded: is_outside && mark.is_recorded,
            is_unknown,
            calls_back: is_unknown || mark.is_hidden,
            call: Some(Box::new(call)),
            ..InstructionEffect::default()
        }
    }

    /// Accesses to shared memory have records. The remaining intrinsics compute values, except those for memory.
    fn intrinsic(&self, index: u32, name: &str, arguments: &[Operand]) -> InstructionEffect {
        let argument = |position: usize| arguments.get(position).copied().unwrap_or(Operand::Other);
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            let steering = self.slots([argument(0), argument(1), argument(2)]);
            let to = self.shape.content(argument(0));
            let from = self.shape.content(argument(1));
            let Some(slot) = to else {
                return InstructionEffect { is_unknown: true, steering, ..InstructionEffect::default() };
            };
            let defines = vec![Define { slot, from: from.into_iter().collect(), is_whole: false }];
            return InstructionEffect { steering, defines, ..InstructionEffect::default() };
        }
        if name.starts_with("llvm.memset") {
            // Without a record its length is 0, and it changes nothing.
            let to = self.shape.content(argument(0));
            let define = |slot| Define { slot, from: self.slots([argument(1)]), is_whole: false };
            let steering = self.slots([argument(0), argument(2)]);
            return InstructionEffect {
                steering,
                defines: to.map(define).into_iter().collect(),
                ..InstructionEffect::default()
            };
        }
        if name.starts_with("llvm.lifetime") || name.starts_with("llvm.dbg") {
            return InstructionEffect::default();
        }
        let defines = vec![self.result(index, self.slots(arguments.iter().copied()))];
        InstructionEffect { defines, ..InstructionEffect::default() }
    }
}
