//! Random programs: functions as the compiler describes them.

#![expect(clippy::cast_possible_truncation, reason = "these programs are small")]

use std::fmt::Write as _;

use foretell_wire::code::{Code, CodePosition, FunctionCode, Operand, opcode, opcode_name, predicate};
use foretell_wire::site::{Site, SiteTable};

/// Numbers that look random and are always the same.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        (0..4).for_each(|_| {
            random.below(2);
        });
        random
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn one_in(&mut self, bound: u32) -> bool {
        self.below(bound) == 0
    }
}

/// How many variables all threads know, and how many words of memory only the thread itself.
pub(crate) const SHARED: u32 = 3;
pub(crate) const OWN: u32 = 4;

/// Texts of the table; the names of functions follow.
const TEXTS: [&str; 10] =
    ["i32", "[4 x i32]", "void", "llvm.memcpy.p0.p0.i64", "abs", "mystery", "unseen", "shared", "own", "ptr"];
pub(crate) const INT: u32 = 0;
const ARRAY: u32 = 1;
const VOID: u32 = 2;
pub(crate) const MEMCPY: u32 = 3;
pub(crate) const ABS: u32 = 4;
pub(crate) const MYSTERY: u32 = 5;
pub(crate) const UNSEEN: u32 = 6;
const FUNCTIONS: u32 = TEXTS.len() as u32;

/// A program, and what the compiler would tell of it.
pub(crate) struct Program {
    pub(crate) functions: Vec<FunctionCode>,
    sites: Vec<Site>,
    /// Whether each function ever records anything.
    pub(crate) tells: Vec<bool>,
}

/// An operand while the numbers of instructions are not known yet: results are block and place in it.
#[derive(Clone, Copy, Debug)]
enum Use {
    Result(usize, usize),
    Given(Operand),
}

/// What operands do not tell: that numbers are compared with their sign, and how far elements of an array are apart.
fn numbers(opcode: u8, operands: &[Operand]) -> Vec<i64> {
    match (opcode, operands.last()) {
        (opcode::ICMP, _) => vec![predicate::ICMP_SLT],
        (opcode::GETELEMENTPTR, Some(Operand::Number(index))) => vec![4 * index],
        (opcode::GETELEMENTPTR, _) => vec![0, 4],
        _ => Vec::new(),
    }
}

impl Use {
    fn number(number: i64) -> Use {
        Use::Given(Operand::Number(number))
    }

    fn block(block: usize) -> Use {
        Use::Given(Operand::Block(u32::try_from(block).expect("few blocks")))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hook {
    None,
    /// A hook that need not record.
    Some,
    /// A hook that always records.
    Told,
    /// A hook that need not record, if the function ever records anything: a call of itself.
    Own,
}

struct Line {
    opcode: u8,
    of: u32,
    uses: Vec<Use>,
    hook: Hook,
}

/// A function in the making.
struct Maker<'a> {
    random: &'a mut Random,
    blocks: Vec<Vec<Line>>,
    /// The variables of the function, and its arrays.
    locals: Vec<Use>,
    arrays: [Use; 2],
    /// The variables that loops count in, which are not used yet.
    counters: Vec<Use>,
    parameters: u32,
    /// The functions that may be called, and how many parameters each has.
    callees: Vec<(u32, u32, bool)>,
    tells: bool,
    /// It must not record anything.
    is_quiet: bool,
    /// Which function it is, unless it must not call itself any more.
    own: Option<u32>,
    /// How many statements may still be made.
    left: u32,
    /// Statements within statements.
    depth: u32,
}

impl Program {
    pub(crate) fn random(random: &mut Random) -> Program {
        let count = 1 + random.below(4);
        let parameters: Vec<u32> =
            (0..count).map(|index| if index == 0 { 0 } else { random.below(3) }).collect();
        let mut made: Vec<(FunctionCode, Vec<Hook>, bool)> = Vec::new();
        // The last ones first: functions call those after them.
        for index in (0..count).rev() {
            let callees = (index + 1..count).zip(made.iter().rev());
            let callees =
                callees.map(|(callee, made)| (callee, parameters[callee as usize], made.2)).collect();
            let is_quiet = index > 0 && random.one_in(3);
            let maker = Maker {
                left: if index == 0 { 14 } else { 7 },
                random,
                blocks: vec![Vec::new()],
                locals: Vec::new(),
                arrays: [Use::number(0); 2],
                counters: Vec::new(),
                parameters: parameters[index as usize],
                callees,
                tells: false,
                is_quiet,
                own: (parameters[index as usize] > 0).then_some(index),
                depth: 0,
            };
            made.push(maker.make(FUNCTIONS + index));
        }
        made.reverse();
        let mut sites = vec![Site::default()];
        for (function, (_, hooks, _)) in (0..).zip(&made) {
            for (instruction, hook) in (0..).zip(hooks) {
                let position = Some(CodePosition { function, instruction });
                let is_told = *hook == Hook::Told;
                if *hook != Hook::None {
                    sites.push(Site { position, is_told, ..Site::default() });
                }
            }
        }
        let tells = made.iter().map(|made| made.2).collect();
        Program { functions: made.into_iter().map(|made| made.0).collect(), sites, tells }
    }

    /// The site of an instruction, if it has one.
    pub(crate) fn site(&self, function: usize, instruction: usize) -> Option<(u64, bool)> {
        let is_it = |site: &Site| {
            site.position.is_some_and(|position| {
                (position.function as usize, position.instruction as usize) == (function, instruction)
            })
        };
        let found = self.sites.iter().position(is_it)?;
        Some((found as u64, self.sites[found].is_told))
    }

    /// Which function a name is.
    pub(crate) fn callee(name: u32) -> Option<usize> {
        name.checked_sub(FUNCTIONS).map(|index| index as usize)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let names = (0..self.functions.len()).map(|index| format!("f{index}"));
        let texts = TEXTS.iter().map(ToString::to_string).chain(names).collect();
        let table = SiteTable { texts, sites: self.sites.clone(), ..SiteTable::default() };
        Code { table, functions: self.functions.clone() }.encode()
    }

    pub(crate) fn listing(&self) -> String {
        let mut text = String::new();
        for (number, function) in self.functions.iter().enumerate() {
            let _ = writeln!(text, "f{number}({} parameters)", function.parameters.len());
            let (mut block, mut start) = (0, 0);
            for (index, instruction) in function.instructions.iter().enumerate() {
                if index == start {
                    let _ = writeln!(text, " block {block}");
                    start += function.blocks[block] as usize;
                    block += 1;
                }
                let site = match self.site(number, index) {
                    Some((_, true)) => "told",
                    Some((_, false)) => "site",
                    None => "",
                };
                let operands = function.operands_of(instruction);
                let _ =
                    writeln!(text, "  {index:3} {:14} {operands:?} {site}", opcode_name(instruction.opcode));
            }
        }
        text
    }
}

impl Maker<'_> {
    fn make(mut self, name: u32) -> (FunctionCode, Vec<Hook>, bool) {
        for _ in 0..1 + self.random.below(3) {
            let local = self.put(26, INT, vec![Use::number(1)], Hook::None);
            self.locals.push(local);
        }
        for _ in 0..3 {
            let counter = self.put(26, INT, vec![Use::number(1)], Hook::None);
            self.counters.push(counter);
        }
        self.arrays = [(); 2].map(|()| self.put(26, ARRAY, vec![Use::number(1)], Hook::None));
        for index in 0..self.locals.len() {
            let first = if (index as u32) < self.parameters {
                Use::Given(Operand::Parameter(index as u32))
            } else {
                Use::number(i64::from(self.random.below(4)))
            };
            self.put(28, INT, vec![first, self.locals[index]], Hook::None);
        }
        for (array, index) in [0, 1].into_iter().flat_map(|array| (0..4).map(move |index| (array, index))) {
            let place = self.put(29, 9, vec![self.arrays[array], Use::number(index)], Hook::None);
            self.put(28, INT, vec![Use::number(0), place], Hook::None);
        }
        self.statements();
        let value = self.expression();
        self.put(1, VOID, vec![value], Hook::None);
        self.finish(name)
    }

    fn finish(self, name: u32) -> (FunctionCode, Vec<Hook>, bool) {
        let starts: Vec<usize> = self
            .blocks
            .iter()
            .scan(0, |start, block| {
                let own = *start;
                *start += block.len();
                Some(own)
            })
            .collect();
        let count = |number: usize| u32::try_from(number).expect("a small function");
        let mut function = FunctionCode {
            name,
            parameters: vec![INT; self.parameters as usize],
            blocks: self.blocks.iter().map(|block| count(block.len())).collect(),
            ..FunctionCode::default()
        };
        let mut hooks = Vec::new();
        for line in self.blocks.iter().flatten() {
            let operand = |used: &Use| match *used {
                Use::Result(block, place) => Operand::Instruction(count(starts[block] + place)),
                Use::Given(operand) => operand,
            };
            let operands: Vec<Operand> = line.uses.iter().map(operand).collect();
            function.add(line.opcode, line.of, (0, 0, 0), &operands);
            function.note(&numbers(line.opcode, &operands));
            hooks.push(match line.hook {
                Hook::Own if self.tells => Hook::Some,
                Hook::Own => Hook::None,
                hook => hook,
            });
        }
        (function, hooks, self.tells)
    }

    fn put(&mut self, opcode: u8, of: u32, uses: Vec<Use>, hook: Hook) -> Use {
        self.tells |= hook == Hook::Told;
        let block = self.blocks.len() - 1;
        self.blocks[block].push(Line { opcode, of, uses, hook });
        Use::Result(block, self.blocks[block].len() - 1)
    }

    /// Ends the block with a way to others, which is put in later.
    fn end_block(&mut self, condition: Option<Use>) -> (usize, usize) {
        let Use::Result(block, place) = self.put(2, VOID, condition.into_iter().collect(), Hook::None) else {
            unreachable!("it is a result");
        };
        self.blocks.push(Vec::new());
        (block, place)
    }

    fn lead(&mut self, (block, place): (usize, usize), to: usize) {
        self.blocks[block][place].uses.push(Use::block(to));
    }

    fn here(&self) -> usize {
        self.blocks.len() - 1
    }

    fn local(&mut self) -> Use {
        let index = self.random.below(self.locals.len() as u32);
        self.locals[index as usize]
    }

    fn value(&mut self) -> Use {
        match self.random.below(6) {
            0 => Use::number(i64::from(self.random.below(5))),
            1 if self.parameters > 0 => Use::Given(Operand::Parameter(self.random.below(self.parameters))),
            2 => {
                let place = self.element();
                let hook = if self.random.one_in(3) { Hook::Some } else { Hook::None };
                self.put(27, INT, vec![place], hook)
            }
            _ => {
                let local = self.local();
                self.put(27, INT, vec![local], Hook::None)
            }
        }
    }

    /// A place in the array.
    fn element(&mut self) -> Use {
        let local = self.local();
        let index = if self.random.one_in(2) {
            Use::number(i64::from(self.random.below(4)))
        } else {
            let index = self.put(27, INT, vec![local], Hook::None);
            self.put(23, INT, vec![index, Use::number(3)], Hook::None)
        };
        self.put(29, 9, vec![self.arrays[0], index], Hook::None)
    }

    fn expression(&mut self) -> Use {
        let one = self.value();
        match self.random.below(8) {
            0 | 1 => one,
            2 => {
                let (other, third) = (self.value(), self.value());
                let condition = self.put(42, INT, vec![one, other], Hook::None);
                self.put(46, INT, vec![condition, other, third], Hook::None)
            }
            3 => {
                let other = self.value();
                let some = self.put(24, INT, vec![other, Use::number(1)], Hook::None);
                self.put(15, INT, vec![one, some], Hook::None)
            }
            4 => self.choice(one),
            kind => {
                let other = self.value();
                let opcode = [8, 10, 12][kind as usize % 3];
                self.put(opcode, INT, vec![one, other], Hook::None)
            }
        }
    }

    /// One of two values, by way of blocks.
    fn choice(&mut self, one: Use) -> Use {
        let bound = self.value();
        let condition = self.put(42, INT, vec![one, bound], Hook::None);
        let ways = self.end_block(Some(condition));
        let first = self.here();
        self.lead(ways, first);
        let value = self.value();
        let value = self.put(8, INT, vec![value, Use::number(1)], Hook::None);
        let way = self.end_block(None);
        let second = self.here();
        self.lead(ways, second);
        self.lead(way, second);
        let uses = vec![one, Use::block(ways.0), value, Use::block(first)];
        self.put(44, INT, uses, Hook::None)
    }

    fn statements(&mut self) {
        for _ in 0..2 + self.random.below(5) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            self.depth += 1;
            self.statement();
            self.depth -= 1;
        }
    }

    fn shared(&mut self) -> Use {
        if !self.random.one_in(4) {
            return Use::number(super::machine::shared(self.random.below(SHARED)));
        }
        let index = self.value();
        let index = self.put(23, INT, vec![index, Use::number(1)], Hook::None);
        self.put(29, 9, vec![Use::number(super::machine::shared(0)), index], Hook::None)
    }

    fn own(&mut self) -> Use {
        Use::number(super::machine::own(self.random.below(OWN)))
    }

    fn statement(&mut self) {
        let kind = self.random.below(22);
        match if self.is_quiet { [5, 6, 9, 10, 11, 16, 17, 18][kind as usize % 8] } else { kind } {
            0..=2 => {
                let (place, local) = (self.shared(), self.local());
                let value = self.put(27, INT, vec![place], Hook::Told);
                self.put(28, INT, vec![value, local], Hook::None);
            }
            3 | 4 => {
                let (value, place) = (self.expression(), self.shared());
                self.put(28, INT, vec![value, place], Hook::Told);
            }
            5 => {
                let (value, local) = (self.expression(), self.local());
                self.put(28, INT, vec![value, local], Hook::None);
            }
            6 => {
                let value = self.expression();
                let place = self.element();
                self.put(28, INT, vec![value, place], Hook::None);
            }
            7 => {
                let (value, place) = (self.expression(), self.own());
                self.put(28, INT, vec![value, place], Hook::Told);
            }
            8 => {
                let (place, local) = (self.own(), self.local());
                let value = self.put(27, INT, vec![place], Hook::Told);
                self.put(28, INT, vec![value, local], Hook::None);
            }
            9 if self.depth < 3 => self.decision(),
            10 if self.depth < 3 => self.repetition(),
            11 | 12 => self.call(),
            13 => self.copy(),
            14 => self.library(),
            16 => self.exchange(),
            17 => self.recursion(),
            18 => self.silent_copy(),
            19..=21 => self.experiment(),
            _ => {
                let (value, place) = (self.value(), self.shared());
                let sum = self.put(8, INT, vec![value, Use::number(1)], Hook::None);
                self.put(28, INT, vec![sum, place], Hook::Told);
            }
        }
    }

    fn decision(&mut self) {
        let (one, other) = (self.value(), self.value());
        let condition = self.put(42, INT, vec![one, other], Hook::None);
        let ways = self.end_block(Some(condition));
        let first = self.here();
        self.lead(ways, first);
        self.statements();
        let leaves = self.random.one_in(6);
        if leaves {
            let value = self.value();
            self.put(1, VOID, vec![value], Hook::None);
            self.blocks.push(Vec::new());
            let second = self.here();
            return self.lead(ways, second);
        }
        let way = self.end_block(None);
        let second = self.here();
        self.lead(ways, second);
        if self.random.one_in(2) {
            self.statements();
            let other = self.end_block(None);
            let third = self.here();
            self.lead(other, third);
            return self.lead(way, third);
        }
        self.lead(way, second);
    }

    /// So many times, maybe as many as some value says.
    fn repetition(&mut self) {
        let Some(counter) = self.counters.pop() else { return };
        let bound = self.value();
        let bound = self.put(23, INT, vec![bound, Use::number(3)], Hook::None);
        self.put(28, INT, vec![Use::number(0), counter], Hook::None);
        let way = self.end_block(None);
        let head = self.here();
        self.lead(way, head);
        let count = self.put(27, INT, vec![counter], Hook::None);
        let condition = self.put(42, INT, vec![count, bound], Hook::None);
        let ways = self.end_block(Some(condition));
        let body = self.here();
        self.lead(ways, body);
        self.statements();
        let count = self.put(27, INT, vec![counter], Hook::None);
        let count = self.put(8, INT, vec![count, Use::number(1)], Hook::None);
        self.put(28, INT, vec![count, counter], Hook::None);
        let back = self.end_block(None);
        self.lead(back, head);
        let after = self.here();
        self.lead(ways, after);
    }

    /// What was read goes nowhere but through one statement, and what comes of it is written.
    fn experiment(&mut self) {
        let local = self.local();
        let place = Use::number(super::machine::shared(self.random.below(SHARED)));
        let value = self.put(27, INT, vec![place], Hook::Told);
        self.put(28, INT, vec![value, local], Hook::None);
        let others = std::mem::replace(&mut self.locals, vec![local]);
        match self.random.below(4) {
            0 | 1 => self.call(),
            2 => self.exchange(),
            _ => self.through_the_array(),
        }
        self.locals = others;
        let value = self.put(27, INT, vec![local], Hook::None);
        self.put(28, INT, vec![value, place], Hook::Told);
    }

    /// Something is kept in one of two arrays while a word of the other is copied to there, maybe over it, and fetched
    /// again.
    fn through_the_array(&mut self) {
        let (arrays, local) = (self.arrays, self.local());
        let place = |maker: &mut Self, array: usize| {
            let index = Use::number(i64::from(maker.random.below(2)));
            maker.put(29, 9, vec![arrays[array], index], Hook::None)
        };
        let [from, kept, to, fetched] = [1, 0, 0, 0].map(|array| place(self, array));
        let value = self.put(27, INT, vec![local], Hook::None);
        self.put(28, INT, vec![value, kept], Hook::None);
        let hook = if self.random.one_in(2) { Hook::Told } else { Hook::None };
        self.put(45, VOID, vec![to, from, Use::number(4), Use::Given(Operand::Global(MEMCPY))], hook);
        let value = self.put(27, INT, vec![fetched], Hook::None);
        self.put(28, INT, vec![value, local], Hook::None);
    }

    /// Two values that change places, several times; or one goes to the other, and something that was read comes in its
    /// place.
    fn exchange(&mut self) {
        let (one, other, bound) = (self.value(), self.value(), self.value());
        let bound = self.put(23, INT, vec![bound, Use::number(3)], Hook::None);
        let way = self.end_block(None);
        let (before, head) = (way.0, self.here());
        self.lead(way, head);
        let [counter, first, second, next, read] = [0, 1, 2, 3, 4].map(|place| Use::Result(head, place));
        let reads = !self.is_quiet && self.random.one_in(2);
        for (begin, then) in
            [(Use::number(0), next), (one, if reads { read } else { second }), (other, first)]
        {
            self.put(44, INT, vec![begin, Use::block(before), then, Use::block(head)], Hook::None);
        }
        self.put(8, INT, vec![counter, Use::number(1)], Hook::None);
        if reads {
            let place = Use::number(super::machine::shared(self.random.below(SHARED)));
            self.put(27, INT, vec![place], Hook::Told);
        }
        let condition = self.put(42, INT, vec![next, bound], Hook::None);
        let ways = self.end_block(Some(condition));
        self.lead(ways, head);
        let after = self.here();
        self.lead(ways, after);
        let (local, last) = (self.local(), if self.random.one_in(2) { first } else { second });
        self.put(28, INT, vec![last, local], Hook::None);
    }

    /// The function calls itself, less and less often.
    fn recursion(&mut self) {
        let Some(own) = self.own.take() else { return };
        let count = self.put(23, INT, vec![Use::Given(Operand::Parameter(0)), Use::number(3)], Hook::None);
        let condition = self.put(42, INT, vec![Use::number(0), count], Hook::None);
        let ways = self.end_block(Some(condition));
        let inner = self.here();
        self.lead(ways, inner);
        let count = self.put(10, INT, vec![count, Use::number(1)], Hook::None);
        let mut uses: Vec<Use> = (0..self.parameters).map(|_| self.value()).collect();
        uses[0] = count;
        uses.push(Use::Given(Operand::Global(FUNCTIONS + own)));
        let result = self.put(45, INT, uses, Hook::Own);
        let local = self.local();
        self.put(28, INT, vec![result, local], Hook::None);
        let way = self.end_block(None);
        let after = self.here();
        self.lead(ways, after);
        self.lead(way, after);
    }

    /// A word of the array is copied to another one, and nobody tells.
    fn silent_copy(&mut self) {
        let (to, from) = (self.element(), self.element());
        let uses = vec![to, from, Use::number(4), Use::Given(Operand::Global(MEMCPY))];
        self.put(45, VOID, uses, Hook::None);
    }

    fn call(&mut self) {
        let callees: Vec<_> =
            self.callees.iter().copied().filter(|callee| !self.is_quiet || !callee.2).collect();
        if callees.is_empty() {
            return;
        }
        let (callee, parameters, tells) = callees[self.random.below(callees.len() as u32) as usize];
        let mut uses: Vec<Use> = (0..parameters).map(|_| self.value()).collect();
        uses.push(Use::Given(Operand::Global(FUNCTIONS + callee)));
        self.tells |= tells;
        let result = self.put(45, INT, uses, if tells { Hook::Some } else { Hook::None });
        let local = self.local();
        self.put(28, INT, vec![result, local], Hook::None);
    }

    /// Words of the thread's own memory are copied, or shared ones to there; or words of the array.
    fn copy(&mut self) {
        let to = if self.random.one_in(3) { self.element() } else { self.own() };
        let from = match self.random.below(4) {
            0 => self.shared(),
            1 => self.element(),
            _ => self.own(),
        };
        let uses = vec![to, from, Use::number(4), Use::Given(Operand::Global(MEMCPY))];
        self.put(45, VOID, uses, Hook::Told);
    }

    fn library(&mut self) {
        let (value, local) = (self.value(), self.local());
        let (name, hook) = match self.random.below(6) {
            0 => (MYSTERY, Hook::Some),
            1 => (UNSEEN, Hook::Told),
            _ => (ABS, Hook::Some),
        };
        self.tells |= name != ABS;
        let result = self.put(45, INT, vec![value, Use::Given(Operand::Global(name))], hook);
        self.put(28, INT, vec![result, local], Hook::None);
    }
}
