//! A machine that runs such programs, and writes down what the recorder would.

use std::collections::HashMap;

use foretell_wire::code::{FunctionCode, Instruction, Operand, opcode};
use foretell_wire::log::module::Module;
use foretell_wire::log::{Chunk, ChunkContent, HEADER, MAGIC, PAGE};
use foretell_wire::record::{Context, LONGEST_RECORD, Record, SyncOp};

use crate::program::{ABS, INT, MEMCPY, MYSTERY, OWN, Program, SHARED, UNSEEN};

/// Where the table of the only module is.
const TABLE: u64 = 0x10_0000;
const STACK: i64 = 0x70_0000;
/// More instructions than this are taken for a loop without end.
const LONGEST: u32 = 20_000;

/// The address of a variable that all threads know.
pub(crate) fn shared(index: u32) -> i64 {
    0x9000 + 4 * i64::from(index)
}

/// The address of a word that only the thread itself knows.
pub(crate) fn own(index: u32) -> i64 {
    0x2_0000 + 4 * i64::from(index)
}

fn is_shared(address: i64) -> bool {
    (0..SHARED).any(|index| shared(index) == address)
}

/// When calls are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Telling {
    /// When they are made.
    AtOnce,
    /// When anything else is recorded in them.
    Late,
}

/// An access to what all threads know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) site: u64,
    pub(crate) address: i64,
    pub(crate) writes: bool,
    pub(crate) value: i64,
}

impl Access {
    /// Whether it is the same but for the value.
    pub(crate) fn is_same(&self, other: &Access) -> bool {
        (self.site, self.address, self.writes) == (other.site, other.address, other.writes)
    }
}

/// What has happened.
pub(crate) struct Run {
    pub(crate) records: Vec<Record<'static>>,
    pub(crate) accesses: Vec<Access>,
    /// It has come to its end by itself.
    pub(crate) ended: bool,
}

/// Why a run has stopped.
struct Stopped;

pub(crate) struct Machine<'a> {
    program: &'a Program,
    telling: Telling,
    /// What reads of shared variables see, one after the other.
    inputs: &'a [i64],
    reads: usize,
    memory: HashMap<i64, i64>,
    top: i64,
    steps: u32,
    /// The sites of the calls, and whether they were told.
    calls: Vec<(u64, bool)>,
    /// How many calls that were told have ended without that being told.
    ended: u32,
    run: Run,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, telling: Telling, inputs: &'a [i64]) -> Machine<'a> {
        let run = Run { records: Vec::new(), accesses: Vec::new(), ended: false };
        let memory = (0..OWN).map(|index| (own(index), 0)).collect();
        Machine {
            program,
            telling,
            inputs,
            reads: 0,
            memory,
            top: STACK,
            steps: 0,
            calls: Vec::new(),
            ended: 0,
            run,
        }
    }

    pub(crate) fn run(mut self) -> Run {
        self.run.ended = self.call(0, &[]).is_ok();
        self.run
    }

    fn record(&mut self, record: Record<'static>) {
        self.tell_calls();
        self.run.records.push(record);
    }

    fn tell_calls(&mut self) {
        if self.ended > 0 {
            self.run.records.push(Record::Exit { calls: std::mem::take(&mut self.ended) });
        }
        for (site, is_told) in &mut self.calls {
            if !std::mem::replace(is_told, true) {
                self.run.records.push(Record::Enter { site: *site });
            }
        }
    }

    fn enter(&mut self, site: u64) {
        self.calls.push((site, false));
        if self.telling == Telling::AtOnce {
            self.tell_calls();
        }
    }

    fn leave(&mut self) {
        self.ended += u32::from(self.calls.pop().is_some_and(|(_, is_told)| is_told));
        if self.telling == Telling::AtOnce {
            self.tell_calls();
        }
    }

    fn call(&mut self, index: usize, arguments: &[i64]) -> Result<i64, Stopped> {
        let function = &self.program.functions[index];
        let bottom = self.top;
        let mut frame = Frame { index, function, arguments, results: HashMap::new(), from: 0, block: 0 };
        let result = self.body(&mut frame);
        self.top = bottom;
        result
    }

    fn body(&mut self, frame: &mut Frame<'_>) -> Result<i64, Stopped> {
        let mut at = 0;
        loop {
            self.steps += 1;
            let instruction =
                frame.function.instructions.get(at).filter(|_| self.steps < LONGEST).ok_or(Stopped)?;
            match instruction.opcode {
                44 => at = frame.choose(at),
                1 => return Ok(frame.of(frame.operands(instruction)[0])),
                2 => at = frame.branch(instruction),
                _ => {
                    let result = self.instruction(frame, at, instruction)?;
                    frame.results.insert(at, result);
                    at += 1;
                }
            }
        }
    }

    fn instruction(
        &mut self,
        frame: &Frame<'_>,
        at: usize,
        instruction: &Instruction,
    ) -> Result<i64, Stopped> {
        let operands = frame.operands(instruction);
        let of = |position: usize| operands.get(position).map_or(0, |&operand| frame.of(operand));
        let result = match instruction.opcode {
            8 => of(0).wrapping_add(of(1)),
            10 => of(0).wrapping_sub(of(1)),
            12 => of(0).wrapping_mul(of(1)),
            15 => of(0).checked_div(of(1)).ok_or(Stopped)?,
            23 => of(0) & of(1),
            24 => of(0) | of(1),
            26 => {
                self.top += 16;
                self.top
            }
            27 => self.load(frame, at, of(0)),
            28 => {
                self.store(frame, at, of(1), of(0));
                0
            }
            29 => of(0) + 4 * of(1),
            42 => i64::from(of(0) < of(1)),
            45 => self.called(frame, at, operands)?,
            46 => of(if of(0) != 0 { 1 } else { 2 }),
            other => panic!("opcode {other}"),
        };
        Ok(if instruction.result == INT && instruction.opcode != opcode::ALLOCA {
            narrow(result)
        } else {
            result
        })
    }

    /// What a shared variable holds now.
    fn next_input(&mut self) -> i64 {
        let value = self.inputs.get(self.reads).copied().unwrap_or(0);
        self.reads += 1;
        value
    }

    fn read(&mut self, site: u64, address: i64) -> i64 {
        if is_shared(address) {
            let value = self.next_input();
            self.run.accesses.push(Access { site, address, writes: false, value });
            return value;
        }
        self.memory.get(&address).copied().unwrap_or(0)
    }

    fn write(&mut self, site: u64, address: i64, value: i64) {
        if is_shared(address) {
            self.run.accesses.push(Access { site, address, writes: true, value });
        } else {
            self.memory.insert(address, value);
        }
    }

    fn load(&mut self, frame: &Frame<'_>, at: usize, address: i64) -> i64 {
        let Some((site, true)) = self.program.site(frame.index, at) else {
            return self.memory.get(&address).copied().unwrap_or(0);
        };
        let value = self.read(site, address);
        self.record(Record::Read { site: TABLE + site, addr: bits(address), size: 4, value: low(value) });
        value
    }

    fn store(&mut self, frame: &Frame<'_>, at: usize, address: i64, value: i64) {
        let Some((site, true)) = self.program.site(frame.index, at) else {
            self.memory.insert(address, value);
            return;
        };
        self.write(site, address, value);
        self.record(Record::Write { site: TABLE + site, addr: bits(address), size: 4, value: low(value) });
    }

    fn called(&mut self, frame: &Frame<'_>, at: usize, operands: &[Operand]) -> Result<i64, Stopped> {
        let (callee, arguments) = operands.split_last().ok_or(Stopped)?;
        let Operand::Global(name) = *callee else { return Err(Stopped) };
        let arguments: Vec<i64> = arguments.iter().map(|&argument| frame.of(argument)).collect();
        let site = self.program.site(frame.index, at);
        match (name, site) {
            (MEMCPY, None) => {
                let value = self.memory.get(&arguments[1]).copied().unwrap_or(0);
                self.memory.insert(arguments[0], value);
                Ok(0)
            }
            (MEMCPY, Some((site, _))) => {
                let value = self.read(site, arguments[1]);
                self.write(site, arguments[0], value);
                let (to, from) = (bits(arguments[0]), bits(arguments[1]));
                let bytes = low(value).to_le_bytes()[..4].to_vec().leak();
                self.record(Record::Copy { site: TABLE + site, to, from, bytes });
                Ok(0)
            }
            (ABS, _) => Ok(arguments[0].wrapping_abs()),
            (MYSTERY, _) => Ok(arguments[0].wrapping_add(1)),
            (UNSEEN, Some((site, _))) => {
                self.run.records.push(Record::Opaque { site: TABLE + site });
                Ok(arguments[0].wrapping_mul(3))
            }
            _ => {
                let index = Program::callee(name).ok_or(Stopped)?;
                let site = site.filter(|_| self.program.tells[index]).map(|(site, _)| TABLE + site);
                site.into_iter().for_each(|site| self.enter(site));
                let result = self.call(index, &arguments)?;
                site.into_iter().for_each(|_| self.leave());
                Ok(result)
            }
        }
    }
}

fn bits(address: i64) -> u64 {
    address.cast_unsigned()
}

/// A number as it is kept in 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is kept")]
fn narrow(value: i64) -> i64 {
    i64::from(value as i32)
}

/// What is told of a value: accesses have four bytes.
pub(crate) fn low(value: i64) -> u64 {
    value.cast_unsigned() & 0xFFFF_FFFF
}

/// A call of a function.
struct Frame<'a> {
    index: usize,
    function: &'a FunctionCode,
    arguments: &'a [i64],
    results: HashMap<usize, i64>,
    /// The block before this one.
    from: u32,
    block: u32,
}

impl Frame<'_> {
    fn operands(&self, instruction: &Instruction) -> &[Operand] {
        self.function.operands_of(instruction)
    }

    fn of(&self, operand: Operand) -> i64 {
        match operand {
            Operand::Instruction(index) => self.results.get(&(index as usize)).copied().unwrap_or(0),
            Operand::Parameter(index) => self.arguments.get(index as usize).copied().unwrap_or(0),
            Operand::Number(number) => number,
            _ => 0,
        }
    }

    /// Where a branch leads.
    fn branch(&mut self, instruction: &Instruction) -> usize {
        let operands = self.operands(instruction);
        let to = match *operands {
            [condition, first, second] => [second, first][usize::from(self.of(condition) != 0)],
            _ => operands[0],
        };
        let Operand::Block(block) = to else { panic!("no block: {operands:?}") };
        (self.from, self.block) = (self.block, block);
        self.function.blocks[..block as usize].iter().map(|&length| length as usize).sum()
    }

    /// All phis from here on choose at once; where the instructions after them begin.
    fn choose(&mut self, from: usize) -> usize {
        let rest = &self.function.instructions[from..];
        let phis = rest.iter().take_while(|instruction| instruction.opcode == 44);
        let chosen: Vec<i64> = phis.map(|phi| self.phi(self.operands(phi))).collect();
        let after = from + chosen.len();
        self.results.extend((from..).zip(chosen));
        after
    }

    fn phi(&self, operands: &[Operand]) -> i64 {
        let from = |pair: &&[Operand]| pair[1] == Operand::Block(self.from);
        operands.chunks(2).find(from).map_or(0, |pair| self.of(pair[0]))
    }
}

/// The log of a run: the first thread starts one that does this, and writes all that both know.
pub(crate) fn log(program: &Program, records: &[Record<'_>]) -> Vec<u8> {
    let code = program.encode();
    let module = Module { address: TABLE, table: &code, globals: Vec::new() }.encode();
    let sync = |op, object| Record::Sync { site: 0, op, object, other: 0 };
    let write = |index| Record::Write { site: 0, addr: bits(shared(index)), size: 4, value: 9 };
    let mut first = vec![sync(SyncOp::Begin, 0), sync(SyncOp::Fork, 1)];
    first.extend((0..SHARED).map(write));
    let mut second = vec![sync(SyncOp::Begin, 0)];
    second.extend(records);
    second.push(sync(SyncOp::End, 0));
    let mut out = MAGIC.to_vec();
    out.resize(PAGE, 0);
    put(&mut out, Chunk { thread: 0, clock: 1, content: ChunkContent::Module(&module) }, &[]);
    put(&mut out, Chunk { thread: 0, clock: 1, content: ChunkContent::Records(&[]) }, &first);
    put(&mut out, Chunk { thread: 1, clock: 99, content: ChunkContent::Records(&[]) }, &second);
    out
}

fn put(out: &mut Vec<u8>, chunk: Chunk<'_>, records: &[Record<'_>]) {
    let (mut content, mut context) = (Vec::new(), Context::NEW);
    if let ChunkContent::Module(module) = chunk.content {
        content.extend_from_slice(module);
    }
    for record in records {
        let mut room = [0; LONGEST_RECORD + 8];
        let length = context.encode(record, &mut room);
        content.extend_from_slice(&room[..length]);
    }
    let length = (HEADER + content.len() + 1).next_multiple_of(PAGE);
    let end = out.len() + length;
    out.extend_from_slice(&chunk.header(length).expect("a length"));
    out.extend_from_slice(&content);
    out.resize(end, 0);
}
