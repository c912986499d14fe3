//! What a record tells of values that were not known: an address is where it was, and what it was computed from
//! follows.

use foretell_wire::code::{Operand, opcode};

use crate::evaluate::evaluate;
use crate::machine::{Frame, Machine};
use crate::routine::Routine;
use crate::values::{Scalar, Type};

impl Machine {
    /// At an instruction that a thread has come to, an operand has this value; and what it was computed from is known
    /// as well, if that has not changed since.
    pub(crate) fn learn(&mut self, routine: &Routine, frame: &mut Frame, at: u32, found: (Operand, u64)) {
        let mut next = Some(found);
        while let Some((operand, value)) = next.take() {
            match operand {
                Operand::Global(name) => self.learn_name(routine, name, value),
                Operand::Within(name, bytes) => {
                    self.learn_name(routine, name, value.wrapping_sub(bytes.cast_unsigned()));
                }
                _ => {
                    let Some(place) = routine.place(operand) else { return };
                    let (_, origins) = frame.held(place);
                    frame.put(place, [Some(value), None], origins);
                    let is_new = |base: Operand| self.given(routine, frame, base).known[0].is_none();
                    let base = self.base(routine, frame, at, operand).filter(|&(base, _)| is_new(base));
                    next = base.map(|(base, bytes)| (base, value.wrapping_sub(bytes)));
                }
            }
        }
    }

    /// What an address was computed from, and how far it is from there.
    fn base(&self, routine: &Routine, frame: &Frame, at: u32, address: Operand) -> Option<(Operand, u64)> {
        let Operand::Instruction(address) = address else { return None };
        if self.opcode(routine, address) != opcode::GETELEMENTPTR {
            return None;
        }
        let mut given = self.all_given(routine, frame, address);
        let base = self.values(routine, address).next()?;
        let numbers = self.numbers(routine, address);
        // Within a block, all that an instruction has used is still as it was.
        let is_near = routine.block(address) == routine.block(at) && address < at;
        let is_steady = match base {
            Operand::Instruction(index) => {
                self.opcode(routine, index) == opcode::ALLOCA && routine.block(index) == Some(0)
            }
            _ => true,
        };
        if !(is_near || is_steady && numbers.len() == 1) {
            return None;
        }
        given.first_mut()?.known = [Some(0), None];
        let bytes = evaluate(opcode::GETELEMENTPTR, numbers, Type::One(Scalar::Pointer), &given)[0]?;
        Some((base, bytes))
    }
}
