//! The functions of the recorded program, found by the sites of their instructions.

use std::collections::BTreeMap;
use std::rc::Rc;

use foretell_wire::code::{self, Code, Instruction, Operand, opcode, opcode_name};
use foretell_wire::log::module::Module;
use foretell_wire::site::SiteTable;
use rustc_hash::FxHashMap;

use crate::demangle::demangle;

/// Which function, of all modules.
pub(crate) type FunctionId = u32;

/// Where a record was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spot {
    pub(crate) function: FunctionId,
    pub(crate) instruction: u32,
}

/// What is known about an instruction from its sites.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mark {
    /// It has a hook.
    pub(crate) has_site: bool,
    /// A thread that comes here leaves a record; of a call, unless the callee is instrumented.
    pub(crate) is_recorded: bool,
    /// It passes on a value without a record.
    pub(crate) is_hidden: bool,
    /// The site of the hook, 0 without one.
    pub(crate) site: u64,
}

/// A function and what is known of its instructions.
#[derive(Debug)]
pub(crate) struct Function {
    code: code::FunctionCode,
    table: Rc<SiteTable>,
    /// The number of its name, see [`Functions::name`].
    pub(crate) name: u32,
    /// The module that it is part of, by the first of its functions.
    module: FunctionId,
    marks: Vec<Mark>,
}

impl Function {
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.code.instructions.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn parameters(&self) -> u32 {
        u32::try_from(self.code.parameters.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn blocks(&self) -> &[u32] {
        &self.code.blocks
    }

    pub(crate) fn instruction(&self, index: u32) -> Option<&Instruction> {
        self.code.instructions.get(index as usize)
    }

    pub(crate) fn opcode(&self, index: u32) -> u8 {
        self.instruction(index).map_or(0, |instruction| instruction.opcode)
    }

    pub(crate) fn mark(&self, index: u32) -> Mark {
        self.marks.get(index as usize).copied().unwrap_or_default()
    }

    pub(crate) fn text(&self, position: u32) -> &str {
        self.table.text(position)
    }

    /// The types of its parameters, as LLVM writes them.
    pub(crate) fn parameter_types(&self) -> impl Iterator<Item = &str> {
        self.code.parameters.iter().map(|&of| self.text(of))
    }

    /// The numbers of an instruction beside its operands, see [`code::Instruction::numbers`].
    pub(crate) fn numbers(&self, index: u32) -> &[i64] {
        self.instruction(index).map_or(&[], |instruction| self.code.numbers_of(instruction))
    }

    /// Where an instruction is, for people.
    pub(crate) fn describe(&self, index: u32) -> String {
        let (file, line, column) = self.instruction(index).map_or((0, 0, 0), |instruction| instruction.place);
        let (file, function) = (self.text(file), demangle(self.text(self.code.name)));
        format!("{file}:{line}:{column} ({} %{index} of {function})", opcode_name(self.opcode(index)))
    }

    /// What an instruction uses: values, then blocks, see [`code::Instruction::operands`].
    pub(crate) fn operands(&self, index: u32) -> &[Operand] {
        self.instruction(index).map_or(&[], |instruction| self.code.operands_of(instruction))
    }

    /// What an instruction uses, but for blocks.
    pub(crate) fn values(&self, index: u32) -> impl Iterator<Item = Operand> {
        self.operands(index).iter().copied().filter(|operand| !matches!(operand, Operand::Block(_)))
    }

    /// What a call passes, and what it calls.
    pub(crate) fn call(&self, index: u32) -> Option<(&[Operand], Operand)> {
        let operands = self.operands(index);
        let end = operands.iter().position(|operand| matches!(operand, Operand::Block(_)));
        let (&callee, arguments) = operands.get(..end.unwrap_or(operands.len()))?.split_last()?;
        Some((arguments, callee))
    }

    /// The name of the callee, if the call is direct.
    pub(crate) fn callee_name(&self, index: u32) -> Option<&str> {
        match self.call(index)?.1 {
            Operand::Global(name) => Some(self.text(name)),
            _ => None,
        }
    }
}

/// Whether the instruction is a call.
pub(crate) fn is_call(opcode: u8) -> bool {
    matches!(opcode, opcode::CALL | opcode::INVOKE | opcode::CALLBR)
}

/// All functions that were loaded so far.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    functions: Vec<Function>,
    /// For each module by its address, the spots of its sites.
    modules: BTreeMap<u64, Vec<Option<Spot>>>,
    names: FxHashMap<String, u32>,
    /// The functions of each name.
    named: Vec<Vec<FunctionId>>,
    /// Where variables are, by their modules and the positions of their names there.
    addresses: FxHashMap<(FunctionId, u32), u64>,
    /// Some function catches exceptions, or cleans up after them.
    pub(crate) unwinds: bool,
    /// Some function makes a tail call.
    pub(crate) replaces: bool,
}

impl Functions {
    /// Adds the functions of a module, if it comes with its code.
    pub(crate) fn add(&mut self, module: &Module<'_>) {
        let Ok(Code { table, functions }) = Code::decode(module.table) else { return };
        let table = Rc::new(table);
        let first = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        for code in functions {
            let name = self.name(table.text(code.name));
            let marks = vec![Mark::default(); code.instructions.len()];
            self.unwinds |= code.instructions.iter().any(|instruction| {
                matches!(instruction.opcode, opcode::INVOKE | opcode::LANDINGPAD | opcode::RESUME)
            });
            let id = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
            self.named[name as usize].push(id);
            self.functions.push(Function { code, table: Rc::clone(&table), name, module: first, marks });
        }
        let names = table.globals.iter().map(|global| (first, global.name));
        self.addresses.extend(names.zip(module.globals.iter().copied()));
        let addresses = (module.address..).zip(&table.sites);
        let spots = addresses.map(|(address, site)| {
            let position = site.position?;
            let function = first.checked_add(position.function)?;
            let about = self.functions.get_mut(function as usize)?;
            let mark = about.marks.get_mut(position.instruction as usize)?;
            mark.has_site = true;
            if mark.site == 0 || site.is_told && !mark.is_recorded {
                mark.site = address;
            }
            mark.is_recorded |= site.is_told;
            mark.is_hidden |= site.is_hidden;
            let is_last = site.is_hidden && about.opcode(position.instruction + 1) == opcode::RET;
            self.replaces |= is_last;
            Some(Spot { function, instruction: position.instruction })
        });
        self.modules.insert(module.address, spots.collect());
    }

    /// The number of a name.
    fn name(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.names.get(text) {
            return number;
        }
        let number = u32::try_from(self.named.len()).unwrap_or(u32::MAX);
        self.names.insert(text.to_string(), number);
        self.named.push(Vec::new());
        number
    }

    /// Where a site is in the code.
    pub(crate) fn spot(&self, site: u64) -> Option<Spot> {
        let (&start, spots) = self.modules.range(..=site).next_back()?;
        *spots.get(usize::try_from(site - start).ok()?)?
    }

    pub(crate) fn get(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id as usize)
    }

    /// The address of the global variable whose name is at this position, if its module records it.
    pub(crate) fn address(&self, id: FunctionId, name: u32) -> Option<u64> {
        self.addresses.get(&(self.get(id)?.module, name)).copied()
    }

    /// The number of a function's name, if any function has it.
    pub(crate) fn known_name(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// All functions of a name.
    pub(crate) fn named(&self, name: u32) -> &[FunctionId] {
        self.named.get(name as usize).map_or(&[], Vec::as_slice)
    }

    /// The function of this name in the module of another one.
    pub(crate) fn beside(&self, id: FunctionId, name: u32) -> Option<FunctionId> {
        let module = self.get(id)?.module;
        let is_beside = |&&other: &&FunctionId| self.get(other).is_some_and(|other| other.module == module);
        self.named.get(name as usize)?.iter().rfind(is_beside).copied()
    }
}
