//! The code of a module as it was when the pass came: every instruction of the instrumented functions, so that one
//! can follow later where a value came from. It stands behind the sites in a module's table, see [`crate::site`].

use std::ops::Range;

use crate::Malformed;
use crate::site::{SiteTable, small};
use crate::varint::{follow, push, step, take};

/// Where an instruction stands in the code of its module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CodePosition {
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
    /// A number of up to 64 bits, with its sign. The null pointer is 0.
    Number(i64),
    /// A number of the type `float` or `double`, by its bits.
    Float(u64),
    /// A variable or function, by the position of its name in the texts.
    Global(u32),
    /// So many bytes behind the beginning of a variable or function, which is named by the position of its name.
    Within(u32, i64),
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
    /// The position in the texts of the type of its result; of a store that of what it writes, of an `alloca` that of
    /// what it makes room for.
    pub result: u32,
    /// What it uses, as a range of [`FunctionCode::operands`]: values first, then the blocks that it may lead to, in
    /// LLVM's order. The values of a phi are each followed by the block that they come from.
    pub operands: Range<usize>,
    /// What these do not tell, as a range of [`FunctionCode::numbers`], mostly empty:
    ///
    /// | instruction | numbers |
    /// |---|---|
    /// | `icmp`, `fcmp` | the predicate, as a code of LLVM's C interface |
    /// | `getelementptr` | the bytes that constant indices add up to; the bytes of a step, for each index that is no number |
    /// | `load`, `store` | the order, if it is atomic, as a code of LLVM's C interface |
    /// | `atomicrmw` | the operation, see [`crate::hook::Update`] |
    /// | `extractvalue`, `insertvalue` | the indices |
    /// | `alloca` | the bytes of one element |
    /// | `call`, `invoke` | which arguments are pointers to what is passed by value: the callee gets a copy |
    /// | others on floats, and `fcmp` at its end | how it may be computed less exactly, as LLVM's bits |
    pub numbers: Range<usize>,
    /// Where it comes from: position of the file's name in the texts, line and column. Unknown ones are 0.
    pub place: (u32, u32, u32),
}

/// One function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionCode {
    /// The position of its name in the texts.
    pub name: u32,
    /// The positions in the texts of the types of its parameters.
    pub parameters: Vec<u32>,
    /// How many instructions each of its blocks has.
    pub blocks: Vec<u32>,
    /// Its instructions, block by block.
    pub instructions: Vec<Instruction>,
    /// What they use, one after the other.
    pub operands: Vec<Operand>,
    /// What else is to be known of them, one after the other.
    pub numbers: Vec<i64>,
}

/// A module's functions, with the table that names everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// Texts, sites and variables.
    pub table: SiteTable,
    /// The functions.
    pub functions: Vec<FunctionCode>,
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
    /// The number says which one, see [`super::constant`].
    pub(super) const CONSTANT: u64 = 5;
    pub(super) const OTHER: u64 = 6;
    /// The number follows by itself.
    pub(super) const WIDE_NUMBER: u64 = 7;
}

/// The kinds of constants that are rare enough to take a byte for that.
mod constant {
    pub(super) const OTHER: u64 = 0;
    /// Bits follow, the last one first: round numbers end in many zeros.
    pub(super) const FLOAT: u64 = 1;
    /// A name and an offset follow.
    pub(super) const WITHIN: u64 = 2;
}

impl FunctionCode {
    /// What an instruction uses.
    pub fn operands_of(&self, instruction: &Instruction) -> &[Operand] {
        self.operands.get(instruction.operands.clone()).unwrap_or_default()
    }

    /// What else is to be known of an instruction.
    pub fn numbers_of(&self, instruction: &Instruction) -> &[i64] {
        self.numbers.get(instruction.numbers.clone()).unwrap_or_default()
    }

    /// Adds an instruction that uses these.
    pub fn add(&mut self, opcode: u8, result: u32, place: (u32, u32, u32), operands: &[Operand]) {
        let start = self.operands.len();
        self.operands.extend_from_slice(operands);
        let operands = start..self.operands.len();
        let numbers = self.numbers.len()..self.numbers.len();
        self.instructions.push(Instruction { opcode, result, operands, numbers, place });
    }

    /// Tells more of the instruction that was added last.
    pub fn note(&mut self, numbers: &[i64]) {
        self.numbers.extend_from_slice(numbers);
        if let Some(last) = self.instructions.last_mut() {
            last.numbers.end = self.numbers.len();
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push(u64::from(self.name), out);
        for list in [&self.parameters, &self.blocks] {
            push(list.len() as u64, out);
            list.iter().for_each(|&number| push(u64::from(number), out));
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
            let (operands, numbers) = (self.operands_of(instruction), self.numbers_of(instruction));
            push((operands.len() as u64) << 1 | u64::from(!numbers.is_empty()), out);
            for operand in operands {
                operand.encode(index, out);
            }
            if !numbers.is_empty() {
                push(numbers.len() as u64, out);
                numbers.iter().for_each(|&number| push_signed(number, out));
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Result<FunctionCode, Malformed> {
        let (name, parameters, blocks) = (small(bytes)?, take_list(bytes)?, take_list(bytes)?);
        let mut function = FunctionCode { name, parameters, blocks, ..FunctionCode::default() };
        let mut place = (0, 0, 0);
        let (mut operands, mut numbers) = (Vec::new(), Vec::new());
        for index in 0..take(bytes)? {
            let (&first, rest) = bytes.split_first().ok_or(Malformed)?;
            *bytes = rest;
            if first & SAME_PLACE == 0 {
                place = take_place(place, bytes)?;
            }
            let result = small(bytes)?;
            operands.clear();
            let head = take(bytes)?;
            for _ in 0..head >> 1 {
                operands.push(Operand::decode(index, bytes)?);
            }
            function.add(first & !SAME_PLACE, result, place, &operands);
            if head & 1 == 1 {
                numbers.clear();
                for _ in 0..take(bytes)? {
                    numbers.push(take_signed(bytes)?);
                }
                function.note(&numbers);
            }
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
            Operand::Float(bits) => {
                put(kind::CONSTANT, constant::FLOAT);
                push(bits.reverse_bits(), out);
            }
            Operand::Global(name) => put(kind::GLOBAL, u64::from(name)),
            Operand::Within(name, bytes) => {
                put(kind::CONSTANT, constant::WITHIN);
                push(u64::from(name), out);
                push_signed(bytes, out);
            }
            Operand::Block(index) => put(kind::BLOCK, u64::from(index)),
            Operand::Constant => put(kind::CONSTANT, constant::OTHER),
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
            kind::CONSTANT => match number {
                constant::FLOAT => Operand::Float(take(bytes)?.reverse_bits()),
                constant::WITHIN => Operand::Within(small(bytes)?, take_signed(bytes)?),
                _ => Operand::Constant,
            },
            kind::OTHER => Operand::Other,
            _ => Operand::Number(take_signed(bytes)?),
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
        let table = SiteTable::take(&mut bytes)?;
        let mut functions = Vec::new();
        for _ in 0..take(&mut bytes)? {
            functions.push(FunctionCode::decode(&mut bytes)?);
        }
        Ok(Code { table, functions })
    }
}

fn push_signed(number: i64, out: &mut Vec<u8>) {
    push(step(0, number.cast_unsigned()), out);
}

fn take_signed(bytes: &mut &[u8]) -> Result<i64, Malformed> {
    Ok(follow(0, take(bytes)?).cast_signed())
}

fn take_list(bytes: &mut &[u8]) -> Result<Vec<u32>, Malformed> {
    (0..take(bytes)?).map(|_| small(bytes)).collect()
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
    ($($number:literal $constant:ident $name:literal)*) => {
        /// The opcodes of instructions.
        #[expect(missing_docs, reason = "the names of LLVM")]
        pub mod opcode {
            $(pub const $constant: u8 = $number;)*
        }

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
    1 RET "ret" 2 BR "br" 3 SWITCH "switch" 4 INDIRECTBR "indirectbr" 5 INVOKE "invoke"
    7 UNREACHABLE "unreachable" 8 ADD "add" 9 FADD "fadd" 10 SUB "sub" 11 FSUB "fsub" 12 MUL "mul"
    13 FMUL "fmul" 14 UDIV "udiv" 15 SDIV "sdiv" 16 FDIV "fdiv" 17 UREM "urem" 18 SREM "srem"
    19 FREM "frem" 20 SHL "shl" 21 LSHR "lshr" 22 ASHR "ashr" 23 AND "and" 24 OR "or" 25 XOR "xor"
    26 ALLOCA "alloca" 27 LOAD "load" 28 STORE "store" 29 GETELEMENTPTR "getelementptr" 30 TRUNC "trunc"
    31 ZEXT "zext" 32 SEXT "sext" 33 FPTOUI "fptoui" 34 FPTOSI "fptosi" 35 UITOFP "uitofp"
    36 SITOFP "sitofp" 37 FPTRUNC "fptrunc" 38 FPEXT "fpext" 39 PTRTOINT "ptrtoint" 40 INTTOPTR "inttoptr"
    41 BITCAST "bitcast" 42 ICMP "icmp" 43 FCMP "fcmp" 44 PHI "phi" 45 CALL "call" 46 SELECT "select"
    49 VA_ARG "va_arg" 50 EXTRACTELEMENT "extractelement" 51 INSERTELEMENT "insertelement"
    52 SHUFFLEVECTOR "shufflevector" 53 EXTRACTVALUE "extractvalue" 54 INSERTVALUE "insertvalue"
    55 FENCE "fence" 56 CMPXCHG "cmpxchg" 57 ATOMICRMW "atomicrmw" 58 RESUME "resume"
    59 LANDINGPAD "landingpad" 60 ADDRSPACECAST "addrspacecast" 61 CLEANUPRET "cleanupret"
    62 CATCHRET "catchret" 63 CATCHPAD "catchpad" 64 CLEANUPPAD "cleanuppad" 65 CATCHSWITCH "catchswitch"
    66 FNEG "fneg" 67 CALLBR "callbr" 68 FREEZE "freeze" 69 PTRTOADDR "ptrtoaddr"
}

macro_rules! predicates {
    ($($number:literal $constant:ident $name:literal)*) => {
        /// How `icmp` and `fcmp` compare.
        #[expect(missing_docs, reason = "the names of LLVM")]
        pub mod predicate {
            $(pub const $constant: i64 = $number;)*
        }

        /// What LLVM calls the predicate; `?` if this version knows none.
        pub fn predicate_name(predicate: i64) -> &'static str {
            match predicate {
                $($number => $name,)*
                _ => "?",
            }
        }
    };
}

predicates! {
    0 FCMP_FALSE "false" 1 FCMP_OEQ "oeq" 2 FCMP_OGT "ogt" 3 FCMP_OGE "oge" 4 FCMP_OLT "olt" 5 FCMP_OLE "ole"
    6 FCMP_ONE "one" 7 FCMP_ORD "ord" 8 FCMP_UNO "uno" 9 FCMP_UEQ "ueq" 10 FCMP_UGT "ugt" 11 FCMP_UGE "uge"
    12 FCMP_ULT "ult" 13 FCMP_ULE "ule" 14 FCMP_UNE "une" 15 FCMP_TRUE "true" 32 ICMP_EQ "eq" 33 ICMP_NE "ne"
    34 ICMP_UGT "ugt" 35 ICMP_UGE "uge" 36 ICMP_ULT "ult" 37 ICMP_ULE "ule" 38 ICMP_SGT "sgt" 39 ICMP_SGE "sge"
    40 ICMP_SLT "slt" 41 ICMP_SLE "sle"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Code {
        let mut function =
            FunctionCode { name: 1, parameters: vec![2, 2], blocks: vec![4, 1], ..FunctionCode::default() };
        function.add(27, 2, (0, 12, 3), &[Operand::Global(0)]);
        function.add(42, 2, (0, 12, 5), &[Operand::Instruction(0), Operand::Number(-1)]);
        function.note(&[40]);
        function.add(29, 2, (0, 12, 5), &[Operand::Within(0, -8), Operand::Instruction(0)]);
        function.note(&[i64::MIN, 16]);
        function.add(2, 3, (0, 12, 5), &[Operand::Instruction(1), Operand::Block(1), Operand::Block(0)]);
        let numbers = [i64::MIN, i64::MAX, 1 << 60, 0].map(Operand::Number);
        let one = Operand::Float(1.0_f64.to_bits());
        function.add(
            44,
            2,
            (0, 0, 0),
            &[&numbers[..], &[Operand::Parameter(1), Operand::Constant, Operand::Other, one]].concat(),
        );
        let texts = ["balance", "main", "i32", "void"].map(str::to_string).to_vec();
        Code {
            table: SiteTable { texts, ..SiteTable::default() },
            functions: vec![function, FunctionCode::default()],
        }
    }

    #[test]
    fn code_comes_back_and_stands_behind_the_table() {
        let code = sample();
        let bytes = code.encode();
        assert_eq!(Code::decode(&bytes), Ok(code.clone()));
        assert_eq!(SiteTable::decode(&bytes), Ok(code.table.clone()));
        let start = code.table.encode().len();
        for length in start..bytes.len() {
            assert_eq!(Code::decode(&bytes[..length]), Err(Malformed));
        }
    }

    #[test]
    fn an_instruction_takes_few_bytes() {
        let (mut code, few) = (sample(), sample().encode().len());
        let function = &mut code.functions[0];
        for index in 5..105 {
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
    fn opcodes_and_predicates_have_names() {
        assert_eq!(
            (opcode_name(opcode::LOAD), opcode_name(69), opcode_name(200)),
            ("load", "ptrtoaddr", "?")
        );
        assert_eq!((predicate_name(predicate::ICMP_SLE), predicate_name(16)), ("sle", "?"));
    }
}
