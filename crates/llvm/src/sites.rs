//! The table that goes with a module, as it is built up: places in the source, and the code.

use std::collections::HashMap;

use foretell_wire::code::{Code, CodePosition, FunctionCode, Operand};
use foretell_wire::site::{Described as DescribedMemory, Global, MODEL_OF_USER, Site, SiteTable};

use crate::detail;
use crate::ir::{Block, DebugLocation, Module, Opcode, Type, Value};
use crate::language;

/// A table in the making. Sites are numbered in the order in which they are asked for.
pub(crate) struct Sites {
    module: Module,
    code: Code,
    texts: HashMap<String, u32>,
    types: HashMap<Type, u32>,
}

/// A function whose code has been described: where its instructions stand.
pub(crate) struct Described {
    name: String,
    function: u32,
    instructions: HashMap<Value, u32>,
}

impl Described {
    /// The function's name, as the linker knows it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Sites {
    pub(crate) fn new(module: Module) -> Sites {
        let table = SiteTable { language: language::of(module), ..SiteTable::default() };
        let code = Code { table, ..Code::default() };
        Sites { module, code, texts: HashMap::new(), types: HashMap::new() }
    }

    /// Describes a function as it is now.
    pub(crate) fn describe(&mut self, function: Value, instructions: &[Value]) -> Described {
        let (name, parameters) = (function.name(), function.parameters());
        let names = ValueNames {
            instructions: numbered(instructions),
            parameters: numbered(&parameters),
            blocks: numbered(&function.blocks()),
        };
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut code = FunctionCode {
            name: self.text(&name),
            parameters: parameters.iter().map(|parameter| self.type_name(parameter.type_of())).collect(),
            blocks: function.blocks().into_iter().map(|block| count(block.instructions().len())).collect(),
            ..FunctionCode::default()
        };
        for &instruction in instructions {
            let operands = self.operands(instruction, &names);
            let places = instruction.places();
            let place =
                places.first().map_or((0, 0, 0), |place| (self.text(&place.file), place.line, place.column));
            code.add(opcode(instruction), self.type_name(instruction.described_type()), place, &operands);
            code.note(&detail::numbers(instruction, self.module));
        }
        self.code.functions.push(code);
        let function = count(self.code.functions.len() - 1);
        Described { name, function, instructions: names.instructions }
    }

    fn operands(&mut self, instruction: Value, names: &ValueNames) -> Vec<Operand> {
        let block =
            |block: &Block| names.blocks.get(block).map_or(Operand::Other, |&index| Operand::Block(index));
        let values: Vec<_> =
            instruction.used_values().into_iter().map(|value| self.operand(value, names)).collect();
        if instruction.opcode() == Some(Opcode::LLVMPHI) {
            let blocks = instruction.incoming_blocks();
            return values.into_iter().zip(&blocks).flat_map(|(value, from)| [value, block(from)]).collect();
        }
        let is_switch = instruction.opcode() == Some(Opcode::LLVMSwitch);
        let cases = if is_switch { instruction.cases() } else { Vec::new() };
        let cases: Vec<_> = cases.into_iter().map(|case| self.operand(case, names)).collect();
        let ways = if instruction.is_terminator() { instruction.successors() } else { Vec::new() };
        values.into_iter().chain(cases).chain(ways.iter().map(block)).collect()
    }

    fn operand(&mut self, value: Value, names: &ValueNames) -> Operand {
        if let Some(&index) = names.instructions.get(&value) {
            Operand::Instruction(index)
        } else if let Some(&index) = names.parameters.get(&value) {
            Operand::Parameter(index)
        } else if let Some(number) = value.constant_number() {
            Operand::Number(number)
        } else if let Some(bits) = value.constant_float() {
            Operand::Float(bits)
        } else if value.is_global() {
            Operand::Global(self.text(&value.name()))
        } else if let Some((global, bytes)) = detail::within_global(value, self.module) {
            Operand::Within(self.text(&global.name()), bytes)
        } else if value.is_constant() {
            Operand::Constant
        } else {
            Operand::Other
        }
    }

    /// The number of the site for an instruction of this function. What had been inlined has the sites of its
    /// callers, too.
    pub(crate) fn add(&mut self, instruction: Value, function: &Described) -> u64 {
        let places = instruction.places();
        // What Rust's libraries do for the program is done where it uses them.
        let used = places.iter().position(|place| !place.is_in_library).unwrap_or(0);
        let places = places.get(used..).unwrap_or_default();
        let mut caller = None;
        for place in places.iter().skip(1).rev() {
            let site = self.site(&place.function, Some(place));
            caller = Some(self.push(Site { caller, ..site }));
        }
        let own = places.first();
        let name = own.filter(|_| caller.is_some()).map_or(function.name.as_str(), |place| &place.function);
        let index = function.instructions.get(&instruction);
        let position = index.map(|&instruction| CodePosition { function: function.function, instruction });
        let site = self.site(name, own);
        let number = self.push(Site { caller, position, ..site });
        self.describe_object(number, instruction);
        u64::from(number)
    }

    /// What is accessed at a site, as far as debug information tells.
    fn describe_object(&mut self, site: u32, instruction: Value) {
        let pointer = match instruction.opcode() {
            Some(Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => {
                instruction.operand(0)
            }
            Some(Opcode::LLVMStore) => instruction.operand(1),
            _ => return,
        };
        let Some(object) = self.module.object_of(pointer) else { return };
        let (layout, offset) = (self.text(&object.layout), object.offset);
        let local = object.local.map(|local| self.text(&local));
        let described = DescribedMemory { index: site, is_global: false, layout, offset, local };
        self.code.table.described.push(described);
    }

    /// What the thread has read decides that it comes to this access.
    pub(crate) fn set_decided(&mut self, access: u64) {
        if let Some(site) = self.at(access) {
            site.is_decided = true;
        }
    }

    /// The decision always follows this access.
    pub(crate) fn set_decides(&mut self, access: u64, decision: u64) {
        if let (Some(site), Ok(decision)) = (self.at(access), u32::try_from(decision)) {
            site.decides = Some(decision);
        }
    }

    /// A thread that comes to this site leaves a record of it.
    pub(crate) fn set_told(&mut self, site: u64) {
        if let Some(site) = self.at(site) {
            site.is_told = true;
        }
    }

    /// The call hands something over that no record tells of.
    pub(crate) fn add_hidden(&mut self, call: Value, function: &Described) {
        let number = self.add(call, function);
        if let Some(site) = self.at(number) {
            site.is_hidden = true;
        }
    }

    fn at(&mut self, number: u64) -> Option<&mut Site> {
        self.code.table.sites.get_mut(usize::try_from(number).ok()?)
    }

    fn site(&mut self, function: &str, place: Option<&DebugLocation>) -> Site {
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        let file = self.text(place.map_or("", |place| &place.file));
        Site { file, function: self.text(function), line, column, ..Site::default() }
    }

    fn push(&mut self, site: Site) -> u32 {
        let sites = &mut self.code.table.sites;
        sites.push(site);
        u32::try_from(sites.len() - 1).unwrap_or(u32::MAX)
    }

    /// A function that the module calls has a model of the user: reports on the program name it.
    pub(crate) fn tell_of_model(&mut self, function: &str) {
        let [before, after] = MODEL_OF_USER;
        self.text(&format!("{before}{function}{after}"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.code.table.sites.is_empty()
    }

    /// The finished table, with the variables of the module.
    pub(crate) fn finish(mut self, globals: &[Value]) -> Code {
        for global in globals {
            let name = self.text(&global.name());
            let size = self.module.store_size(global.content_type());
            self.code.table.globals.push(Global { name, size });
            let index = u32::try_from(self.code.table.globals.len() - 1).unwrap_or(u32::MAX);
            if let Some(layout) = global.layout() {
                let layout = self.text(&layout);
                let described = DescribedMemory { index, is_global: true, layout, offset: 0, local: None };
                self.code.table.described.push(described);
            }
        }
        self.code
    }

    fn type_name(&mut self, of: Type) -> u32 {
        if let Some(&position) = self.types.get(&of) {
            return position;
        }
        let position = self.text(&of.text());
        self.types.insert(of, position);
        position
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(&position) = self.texts.get(text) {
            return position;
        }
        let texts = &mut self.code.table.texts;
        let position = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        texts.push(text.to_string());
        self.texts.insert(text.to_string(), position);
        position
    }
}

/// What the values of a function are called in its description.
struct ValueNames {
    instructions: HashMap<Value, u32>,
    parameters: HashMap<Value, u32>,
    blocks: HashMap<Block, u32>,
}

fn numbered<T: Copy + Eq + std::hash::Hash>(things: &[T]) -> HashMap<T, u32> {
    things.iter().copied().zip(0..).collect()
}

/// The opcode as a number; they are all small.
fn opcode(instruction: Value) -> u8 {
    instruction.opcode().and_then(|opcode| u8::try_from(opcode as u32).ok()).unwrap_or(0)
}
