//! The code of a module as it was when the pass came: every instruction of the instrumented functions, so that one can
//! follow later where a value came from. It stands behind the sites in a module's table, see [`crate::site`].

use std::ops::Range;

use crate::Malformed;
use crate::site::{Table, small};
use crate::varint::{follow, push, step, take};

/// Where an instruction stands in the code of its module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    /// Which function, in the order of the module.
    pub function: u32,
    /// Which of its instructions, block by block.
    pub instruction: u32,
}

/// What an instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// The result of an instruction of the same function.
    Instruction(u32),
    /// A parameter of the function.
    Parameter(u32),
    /// A number of up to 64 bits, with its sign.
    Number(i64),
    /// A variable or function, by the position of its name in the texts.
    Global(u32),
    /// A block of the function.
    Block(u32),
    /// Another constant.
    Constant,
    /// Something else: assembly, or what is only there for the compiler.
    Other,
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// What it does: the opcode of LLVM's C interface, see [`opcode_name`].
    pub opcode: u8,
    /// The position in the texts of the type of its result; of a store that of what it writes, of an `alloca` that of what it makes
    /// room for.
    pub result: u32,
    /// What it uses, as a range of [`Function::operands`]: values first, then the blocks that it may lead to, in LLVM's order. The
    /// values of a phi are each followed by the block that they come from.
    pub operands: Range<usize>,
    /// Where it comes from: position of the file's name in the texts, line and column. Unknown ones are 0.
    pub place: (u32, u32, u32),
}

/// One function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// The position of its name in the texts.
    pub name: u32,
    /// How many parameters it has.
    pub parameters: u32,
    /// How many instructions each of its blocks has.
    pub blocks: Vec<u32>,
    /// Its instructions, block by block.
    pub instructions: Vec<Instruction>,
    /// What they use, one after the other.
    pub operands: Vec<Operand>,
}

/// A module's functions, with the table that names everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// Texts, sites and variables.
    pub table: Table,
    /// The functions.
    pub functions: Vec<Function>,
}

/// The opcode of an instruction is less than this; the bit tells that its place is that of the one before.
const SAME_PLACE: u8 = 0x80;

/// The kinds of operands, in the lowest bits of their first number.
mod kind {
    pub(super) const BITS: u32 = 3;
    pub(super) const INSTRUCTION: u64 = 0;
    pub(super) const PARAMETER: u64 = 1;
    pub(super) const NUMBER: u64 = 2;
    pub(super) const GLOBAL: u64 = 3;
    pub(super) const BLOCK: u64 = 4;
    pub(super) const CONSTANT: u64 = 5;
    pub(super) const OTHER: u64 = 6;
    /// The number follows by itself.
    pub(super) const WIDE_NUMBER: u64 = 7;
}

impl Function {
    /// What an instruction uses.
    pub fn operands_of(&self, instruction: &Instruction) -> &[Operand] {
        self.operands.get(instruction.operands.clone()).unwrap_or_default()
    }

    /// Adds an instruction that uses these.
    pub fn add(&mut self, opcode: u8, result: u32, place: (u32, u32, u32), operands: &[Operand]) {
        let start = self.operands.len();
        self.operands.extend_from_slice(operands);
        self.instructions.push(Instruction { opcode, result, operands: start..self.operands.len(), place });
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push(u64::from(self.name), out);
        push(u64::from(self.parameters), out);
        push(self.blocks.len() as u64, out);
        for &length in &self.blocks {
            push(u64::from(length), out);
        }
        push(self.instructions.len() as u64, out);
        let mut place = (0, 0, 0);
        for (index, instruction) in (0..).zip(&self.instructions) {
            let same = if instruction.place == place { SAME_PLACE } else { 0 };
            out.push(instruction.opcode & !SAME_PLACE | same);
            if same == 0 {
                push_place(place, instruction.place, out);
                place = instruction.place;
            }
            push(u64::from(instruction.result), out);
            let operands = self.operands_of(instruction);
            push(operands.len() as u64, out);
            for operand in operands {
                operand.encode(index, out);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Result<Function, Malformed> {
        let mut function = Function { name: small(bytes)?, parameters: small(bytes)?, ..Function::default() };
        for _ in 0..take(bytes)? {
            function.blocks.push(small(bytes)?);
        }
        let mut place = (0, 0, 0);
        let mut operands = Vec::new();
        for index in 0..take(bytes)? {
            let (&first, rest) = bytes.split_first().ok_or(Malformed)?;
            *bytes = rest;
            if first & SAME_PLACE == 0 {
                place = take_place(place, bytes)?;
            }
            let result = small(bytes)?;
            operands.clear();
            for _ in 0..take(bytes)? {
                operands.push(Operand::decode(index, bytes)?);
            }
            function.add(first & !SAME_PLACE, result, place, &operands);
        }
        Ok(function)
    }
}

impl Operand {
    /// Results are named by how far away they are, because they are mostly used soon.
    fn encode(self, user: u64, out: &mut Vec<u8>) {
        let mut put = |kind: u64, number: u64| push(number << kind::BITS | kind, out);
        match self {
            Operand::Instruction(index) => put(kind::INSTRUCTION, step(user, u64::from(index))),
            Operand::Parameter(index) => put(kind::PARAMETER, u64::from(index)),
            Operand::Number(number) => match step(0, number.cast_unsigned()) {
                wide if wide >> (u64::BITS - kind::BITS) != 0 => {
                    put(kind::WIDE_NUMBER, 0);
                    push(wide, out);
                }
                narrow => put(kind::NUMBER, narrow),
            },
            Operand::Global(name) => put(kind::GLOBAL, u64::from(name)),
            Operand::Block(index) => put(kind::BLOCK, u64::from(index)),
            Operand::Constant => put(kind::CONSTANT, 0),
            Operand::Other => put(kind::OTHER, 0),
        }
    }

    fn decode(user: u64, bytes: &mut &[u8]) -> Result<Operand, Malformed> {
        let first = take(bytes)?;
        let number = first >> kind::BITS;
        let index = |number: u64| u32::try_from(number).map_err(|_| Malformed);
        Ok(match first & ((1 << kind::BITS) - 1) {
            kind::INSTRUCTION => Operand::Instruction(index(follow(user, number))?),
            kind::PARAMETER => Operand::Parameter(index(number)?),
            kind::NUMBER => Operand::Number(follow(0, number).cast_signed()),
            kind::GLOBAL => Operand::Global(index(number)?),
            kind::BLOCK => Operand::Block(index(number)?),
            kind::CONSTANT => Operand::Constant,
            kind::OTHER => Operand::Other,
            _ => Operand::Number(follow(0, take(bytes)?).cast_signed()),
        })
    }
}

impl Code {
    /// The module as bytes: its table, then its functions.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.table.encode();
        push(self.functions.len() as u64, &mut out);
        for function in &self.functions {
            function.encode(&mut out);
        }
        out
    }

    /// The module behind the bytes.
    pub fn decode(mut bytes: &[u8]) -> Result<Code, Malformed> {
        let table = Table::take(&mut bytes)?;
        let mut functions = Vec::new();
        for _ in 0..take(&mut bytes)? {
            functions.push(Function::decode(&mut bytes)?);
        }
        Ok(Code { table, functions })
    }
}

fn push_place(from: (u32, u32, u32), to: (u32, u32, u32), out: &mut Vec<u8>) {
    for (from, to) in [(from.0, to.0), (from.1, to.1), (from.2, to.2)] {
        push(step(u64::from(from), u64::from(to)), out);
    }
}

fn take_place(from: (u32, u32, u32), bytes: &mut &[u8]) -> Result<(u32, u32, u32), Malformed> {
    let mut next = |from: u32| u32::try_from(follow(u64::from(from), take(bytes)?)).map_err(|_| Malformed);
    Ok((next(from.0)?, next(from.1)?, next(from.2)?))
}

macro_rules! opcodes {
    ($($number:literal $name:literal)*) => {
        /// What LLVM calls the opcode; `?` if this version knows none.
        pub fn opcode_name(opcode: u8) -> &'static str {
            match opcode {
                $($number => $name,)*
                _ => "?",
            }
        }
    };
}

opcodes! {
    1 "ret" 2 "br" 3 "switch" 4 "indirectbr" 5 "invoke" 7 "unreachable" 8 "add" 9 "fadd" 10 "sub" 11 "fsub" 12 "mul" 13 "fmul"
    14 "udiv" 15 "sdiv" 16 "fdiv" 17 "urem" 18 "srem" 19 "frem" 20 "shl" 21 "lshr" 22 "ashr" 23 "and" 24 "or" 25 "xor" 26 "alloca"
    27 "load" 28 "store" 29 "getelementptr" 30 "trunc" 31 "zext" 32 "sext" 33 "fptoui" 34 "fptosi" 35 "uitofp" 36 "sitofp"
    37 "fptrunc" 38 "fpext" 39 "ptrtoint" 40 "inttoptr" 41 "bitcast" 42 "icmp" 43 "fcmp" 44 "phi" 45 "call" 46 "select"
    49 "va_arg" 50 "extractelement" 51 "insertelement" 52 "shufflevector" 53 "extractvalue" 54 "insertvalue" 55 "fence"
    56 "cmpxchg" 57 "atomicrmw" 58 "resume" 59 "landingpad" 60 "addrspacecast" 61 "cleanupret" 62 "catchret" 63 "catchpad"
    64 "cleanuppad" 65 "catchswitch" 66 "fneg" 67 "callbr" 68 "freeze" 69 "ptrtoaddr"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Code {
        let mut function = Function { name: 1, parameters: 2, blocks: vec![3, 1], ..Function::default() };
        function.add(27, 2, (0, 12, 3), &[Operand::Global(0)]);
        function.add(8, 2, (0, 12, 5), &[Operand::Instruction(0), Operand::Number(-1)]);
        function.add(2, 3, (0, 12, 5), &[Operand::Instruction(1), Operand::Block(1), Operand::Block(0)]);
        let numbers = [i64::MIN, i64::MAX, 1 << 60, 0].map(Operand::Number);
        function.add(
            44,
            2,
            (0, 0, 0),
            &[&numbers[..], &[Operand::Parameter(1), Operand::Constant, Operand::Other]].concat(),
        );
        let texts = ["balance", "main", "i32", "void"].map(str::to_string).to_vec();
        Code { table: Table { texts, ..Table::default() }, functions: vec![function, Function::default()] }
    }

    #[test]
    fn code_comes_back_and_stands_behind_the_table() {
        let code = sample();
        let bytes = code.encode();
        assert_eq!(Code::decode(&bytes), Ok(code.clone()));
        assert_eq!(Table::decode(&bytes), Ok(code.table.clone()));
        let start = code.table.encode().len();
        for length in start..bytes.len() {
            assert_eq!(Code::decode(&bytes[..length]), Err(Malformed));
        }
    }

    #[test]
    fn an_instruction_takes_few_bytes() {
        let (mut code, few) = (sample(), sample().encode().len());
        let function = &mut code.functions[0];
        for index in 4..104 {
            function.add(
                8,
                2,
                (0, 12 + index / 4, 3),
                &[Operand::Instruction(index - 1), Operand::Number(1)],
            );
        }
        assert!(code.encode().len() - few < 100 * 7);
    }

    #[test]
    fn opcodes_have_names() {
        assert_eq!((opcode_name(27), opcode_name(69), opcode_name(200)), ("load", "ptrtoaddr", "?"));
    }
}
