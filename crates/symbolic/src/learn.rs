//! Learns unknown values from records: the address of an access, and from it the values that it was computed from.

use foretell_wire::code::{Operand, opcode};

use crate::evaluate::evaluate;
use crate::machine::{Frame, Machine};
use crate::routine::Routine;
use crate::values::{Scalar, Type};

impl Machine {
    /// An operand of the current instruction has this value. The values that it was computed from follow, if they have
    /// not changed since.
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

    /// The base of an address, and its offset.
    fn base(&self, routine: &Routine, frame: &Frame, at: u32, address: Operand) -> Option<(Operand, u64)> {
        let Operand::Instruction(address) = address else { return None };
        if self.opcode(routine, address) != opcode::GETELEMENTPTR {
            return None;
        }
        let mut given = self.all_given(routine, frame, address);
        let base = self.values(routine, address).next()?;
        let numbers = self.numbers(routine, address);
        // Within a block, the operands of earlier instructions have not changed.
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
