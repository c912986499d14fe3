//! The code of a recorded program, as far as it is instrumented: where the values came from that it read, wrote and
//! decided by.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use foretell_symbolic::demangle;
use foretell_wire::code::{
    Code, CodePosition, FunctionCode, Instruction, Operand, opcode, opcode_name, predicate_name,
};
use foretell_wire::hook::Update;
use foretell_wire::log::module::Module;
use foretell_wire::log::{ChunkContent, Chunks};

use crate::LogError;

/// The code of the modules that a program has loaded.
#[derive(Debug, Default)]
pub struct Program {
    /// The modules, by the addresses of their tables.
    modules: BTreeMap<u64, Code>,
}

/// An instruction of the program, which defines a value unless its type is `void`.
#[derive(Clone, Copy)]
pub struct Definition<'a> {
    code: &'a Code,
    function: &'a FunctionCode,
    instruction: &'a Instruction,
    position: CodePosition,
}

/// What an instruction uses.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The result of another instruction.
    Result(Definition<'a>),
    /// A parameter of the function, counted from 0 on.
    Parameter(u32),
    /// A number.
    Number(i64),
    /// A number of the type `float` or `double`, by its bits.
    Float(u64),
    /// A variable or function of the program, by its name.
    Global(&'a str),
    /// So many bytes behind the beginning of a variable or function.
    Within(&'a str, i64),
    /// A block of the function, counted from 0 on.
    Block(u32),
    /// Something else that is the same in every run.
    Constant,
    /// Something that is not described, such as assembly.
    Other,
}

impl Program {
    /// The program behind its log.
    pub fn read(log: &[u8]) -> Result<Program, LogError> {
        let (mut chunks, mut modules) = (Chunks::new(log)?, BTreeMap::new());
        while let Some(chunk) = chunks.next_chunk()? {
            if let ChunkContent::Module(content) = chunk.content {
                let module = Module::decode(content)?;
                modules.insert(module.address, Code::decode(module.table)?);
            }
        }
        Ok(Program { modules })
    }

    /// The instruction that a site stands for.
    pub fn definition(&self, site: u64) -> Option<Definition<'_>> {
        let (&start, code) = self.modules.range(..=site).next_back()?;
        let site = code.table.sites.get(usize::try_from(site - start).ok()?)?;
        definition(code, site.position?)
    }

    /// All sites that stand for an instruction.
    pub fn sites(&self) -> impl Iterator<Item = (u64, Definition<'_>)> {
        self.modules.iter().flat_map(|(&start, code)| {
            let sites = (start..).zip(&code.table.sites);
            sites.filter_map(|(site, about)| Some((site, definition(code, about.position?)?)))
        })
    }

    /// All functions: the instructions of each, in order.
    pub fn functions(&self) -> impl Iterator<Item = Vec<Definition<'_>>> {
        self.modules.values().flat_map(|code| {
            (0..).zip(&code.functions).map(move |(function, about)| {
                let positions = (0..).take(about.instructions.len());
                let of = |instruction| definition(code, CodePosition { function, instruction });
                positions.filter_map(of).collect()
            })
        })
    }
}

fn definition(code: &Code, position: CodePosition) -> Option<Definition<'_>> {
    let function = code.functions.get(position.function as usize)?;
    let instruction = function.instructions.get(position.instruction as usize)?;
    Some(Definition { code, function, instruction, position })
}

impl<'a> Definition<'a> {
    /// What the instruction does, in LLVM's words: `load`, `add`, `br`.
    pub fn opcode(&self) -> &'static str {
        opcode_name(self.instruction.opcode)
    }

    /// The type of its result, in LLVM's words: `i32`, `ptr`, `void`. Of a store that of what it writes, and of an
    /// `alloca` that of what it makes room for.
    pub fn result(&self) -> &'a str {
        self.code.table.text(self.instruction.result)
    }

    /// Whether it has a result.
    pub fn defines(&self) -> bool {
        self.result() != "void" && self.opcode() != "store"
    }

    /// The function that it is part of, as the source calls it.
    pub fn function(&self) -> String {
        demangle(self.code.table.text(self.function.name))
    }

    /// Its number in the function.
    pub fn index(&self) -> u32 {
        self.position.instruction
    }

    /// The number of its block in the function.
    pub fn block(&self) -> usize {
        let mut end = 0;
        let ends_before = |&length: &u32| {
            end += u64::from(length);
            end <= u64::from(self.position.instruction)
        };
        self.function.blocks.iter().copied().take_while(ends_before).count()
    }

    /// Where it is in the source: `file.c:12:3`, if the compiler knows.
    pub fn place(&self) -> Option<String> {
        let (file, line, column) = self.instruction.place;
        (line > 0).then(|| format!("{}:{line}:{column}", self.code.table.text(file)))
    }

    /// What it uses: values first, then the blocks that it may lead to. The values of a phi are each followed by the
    /// block that they come from.
    pub fn operands(&self) -> impl Iterator<Item = Source<'a>> + use<'a> {
        let (code, function) = (self.code, self.position.function);
        self.function.operands_of(self.instruction).iter().map(move |&operand| match operand {
            Operand::Instruction(instruction) => {
                definition(code, CodePosition { function, instruction }).map_or(Source::Other, Source::Result)
            }
            Operand::Parameter(index) => Source::Parameter(index),
            Operand::Number(number) => Source::Number(number),
            Operand::Float(bits) => Source::Float(bits),
            Operand::Global(name) => Source::Global(code.table.text(name)),
            Operand::Within(name, bytes) => Source::Within(code.table.text(name), bytes),
            Operand::Block(index) => Source::Block(index),
            Operand::Constant => Source::Constant,
            Operand::Other => Source::Other,
        })
    }

    /// Its numbers beside the operands, see [`Instruction::numbers`].
    pub fn numbers(&self) -> &'a [i64] {
        self.function.numbers_of(self.instruction)
    }

    /// How it compares, or what it does to memory, in LLVM's words; empty for other instructions.
    fn manner(&self) -> String {
        match (self.instruction.opcode, self.numbers()) {
            (opcode::ICMP | opcode::FCMP, &[predicate]) => predicate_name(predicate).to_string(),
            (opcode::ATOMICRMW, &[update]) => {
                let update = u32::try_from(update).ok().and_then(Update::from_code);
                update.map_or_else(|| "?".to_string(), |update| format!("{update:?}").to_lowercase())
            }
            _ => String::new(),
        }
    }

    /// All instructions of the function that the result was computed from, and so on, in their order. This one is
    /// among them only if it depends on itself, in a loop.
    pub fn origins(&self) -> Vec<Definition<'a>> {
        let (mut open, mut found) = (vec![*self], BTreeSet::new());
        while let Some(next) = open.pop() {
            for operand in next.operands() {
                if let Source::Result(origin) = operand
                    && found.insert(origin.position.instruction)
                {
                    open.push(origin);
                }
            }
        }
        let function = self.position.function;
        let of = |instruction| definition(self.code, CodePosition { function, instruction });
        found.into_iter().filter_map(of).collect()
    }
}

impl fmt::Debug for Definition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Like LLVM's own text, as far as that is known: `%3 = load i32 @balance`.
impl fmt::Display for Definition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.defines() {
            write!(f, "%{} = ", self.index())?;
        }
        let manner = self.manner();
        let space = if manner.is_empty() { "" } else { " " };
        write!(f, "{}{space}{manner} {}", self.opcode(), self.result())?;
        for (index, operand) in self.operands().enumerate() {
            f.write_str(if index == 0 { " " } else { ", " })?;
            match operand {
                Source::Result(origin) => write!(f, "%{}", origin.index()),
                Source::Parameter(index) => write!(f, "%arg{index}"),
                Source::Number(number) => write!(f, "{number}"),
                Source::Float(bits) => write!(f, "{bits:#x}"),
                Source::Global(name) => write!(f, "@{}", demangle(name)),
                Source::Within(name, bytes) => write!(f, "@{}{bytes:+}", demangle(name)),
                Source::Block(index) => write!(f, "block{index}"),
                Source::Constant => f.write_str("constant"),
                Source::Other => f.write_str("?"),
            }?;
        }
        match self.numbers() {
            numbers if manner.is_empty() && !numbers.is_empty() => write!(f, " {numbers:?}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_wire::log::{Chunk, MAGIC, PAGE};
    use foretell_wire::site::{Site, SiteTable};

    use super::*;

    /// `for (…) x = x + limit;` with a site at the store.
    fn program() -> Program {
        let texts = ["", "loop.c", "_ZN4bank4loopEv", "i32", "void", "x"].map(str::to_string).to_vec();
        let mut function =
            FunctionCode { name: 2, parameters: vec![3], blocks: vec![1, 7], ..FunctionCode::default() };
        function.add(2, 4, (0, 0, 0), &[Operand::Block(1)]);
        let (zero, next) = (Operand::Number(0), Operand::Instruction(2));
        function.add(44, 3, (1, 3, 1), &[zero, Operand::Block(0), next, Operand::Block(1)]);
        function.add(8, 3, (1, 4, 9), &[Operand::Instruction(1), Operand::Parameter(0)]);
        function.add(28, 3, (1, 4, 5), &[next, Operand::Global(5)]);
        function.add(42, 3, (1, 3, 1), &[next, Operand::Within(5, -4)]);
        function.note(&[40]);
        function.add(29, 3, (1, 3, 1), &[Operand::Float(2), Operand::Parameter(0)]);
        function.note(&[0, 8]);
        function.add(57, 3, (1, 3, 1), &[Operand::Global(5), next]);
        function.note(&[10]);
        function.add(2, 4, (1, 3, 1), &[Operand::Constant, Operand::Block(1)]);
        let position = Some(CodePosition { function: 0, instruction: 3 });
        let sites = vec![Site::default(), Site { position, ..Site::default() }];
        let code =
            Code { table: SiteTable { texts, sites, ..SiteTable::default() }, functions: vec![function] };
        let content = Module { address: 0x1000, table: &code.encode(), globals: Vec::new() }.encode();
        let chunk = Chunk { thread: 0, clock: 0, content: ChunkContent::Module(&content) };
        let mut log = MAGIC.to_vec();
        log.resize(PAGE, 0);
        log.extend_from_slice(&chunk.header(PAGE).unwrap());
        log.extend_from_slice(&content);
        log.resize(2 * PAGE, 0);
        Program::read(&log).unwrap()
    }

    #[test]
    fn values_are_followed_to_where_they_come_from() {
        let program = program();
        let store = program.definition(0x1001).unwrap();
        assert_eq!(store.to_string(), "store i32 %2, @x");
        assert_eq!(
            (store.function(), store.block(), store.place()),
            ("bank::loop".to_string(), 1, Some("loop.c:4:5".to_string()))
        );
        let origins: Vec<String> = store.origins().iter().map(ToString::to_string).collect();
        assert_eq!(origins, ["%1 = phi i32 0, block0, %2, block1", "%2 = add i32 %1, %arg0"]);
        let sum = store.origins()[1];
        assert_eq!(sum.origins().len(), 2, "it depends on itself");
    }

    #[test]
    fn what_operands_do_not_tell_is_shown() {
        let program = program();
        let all: Vec<String> = program.functions().flatten().map(|one| one.to_string()).collect();
        let expected = [
            "%4 = icmp slt i32 %2, @x-4",
            "%5 = getelementptr i32 0x2, %arg0 [0, 8]",
            "%6 = atomicrmw umin i32 @x, %2",
        ];
        assert_eq!(all[4..7], expected);
    }

    #[test]
    fn sites_without_an_instruction_have_no_definition() {
        let program = program();
        assert!([0, 0xFFF, 0x1000, 0x1002, u64::MAX].iter().all(|&site| program.definition(site).is_none()));
        assert_eq!(program.sites().count(), 1);
        assert_eq!(program.functions().map(|function| function.len()).collect::<Vec<_>>(), [8]);
        assert_eq!(
            program.functions().flatten().map(|definition| definition.block()).collect::<Vec<_>>(),
            [0, 1, 1, 1, 1, 1, 1, 1]
        );
    }
}
