//! The code of a function while it is written.

use std::ops::Range;

use crate::program::{Function, Instr, Position};

/// A function whose decisions do not know their scopes yet.
pub(crate) struct Draft {
    /// The function so far.
    pub(crate) function: Function,
    /// For each instruction, whether it may fail: not if the text says that it cannot, as with an index that is written
    /// down and within the array. Whether a value may be a reference is entered when all functions are written.
    pub(crate) may_fail: Vec<bool>,
}

/// The instructions that a decision of some function is about: those that run after it on some way, until the ways
/// meet.
pub(crate) struct Ways {
    /// The number of the function.
    pub(crate) function: usize,
    /// Where the instructions are.
    pub(crate) code: Range<usize>,
}

impl Draft {
    pub(crate) fn new(name: String, parameters: u16) -> Draft {
        let (code, positions) = (Vec::new(), Vec::new());
        let function = Function {
            name,
            parameters,
            locals: parameters,
            loops: 0,
            code,
            positions,
            doubtful: Vec::new(),
        };
        Draft { function, may_fail: Vec::new() }
    }

    /// Where the next instruction will be.
    pub(crate) fn here(&self) -> usize {
        self.function.code.len()
    }

    /// Writes an instruction, and says where.
    pub(crate) fn emit(&mut self, position: Position, instr: Instr) -> usize {
        self.emit_perhaps_failing(position, instr, false)
    }

    /// Writes an instruction that may fail for reasons that only show when it runs.
    pub(crate) fn emit_perhaps_failing(&mut self, position: Position, instr: Instr, may_fail: bool) -> usize {
        self.function.code.push(instr);
        self.function.positions.push(position);
        self.may_fail.push(may_fail);
        self.here() - 1
    }

    /// The jump or decision at `at` leads to what is written next.
    pub(crate) fn lead_here(&mut self, at: usize) {
        let here = self.here();
        match self.function.code.get_mut(at) {
            Some(Instr::Jump(to) | Instr::Decide { otherwise: to, .. }) => *to = here,
            other => debug_assert!(false, "{other:?} leads nowhere"),
        }
    }

    /// The locals with numbers below `visible` that are assigned in some of the code, in order.
    pub(crate) fn assigned(&self, code: Range<usize>, visible: u16) -> Vec<u16> {
        let assigned = self.function.code[code].iter().filter_map(|instr| match instr {
            Instr::SetLocal(slot) if *slot < visible => Some(*slot),
            _ => None,
        });
        let mut assigned: Vec<u16> = assigned.collect();
        assigned.sort_unstable();
        assigned.dedup();
        assigned
    }

    /// Whether the function may return within some of the code.
    pub(crate) fn returns(&self, code: Range<usize>) -> bool {
        self.function.code[code].contains(&Instr::Return)
    }
}
