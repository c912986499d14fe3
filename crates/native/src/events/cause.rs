//! Why there is a fence: what is called, or what else is not understood.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use foretell_symbolic::demangle;
use foretell_trace::{Loc, fence};
use foretell_wire::code::{Code, CodePosition, FunctionCode, Operand, opcode};
use foretell_wire::log::module::Module;
use foretell_wire::record::{Record, SyncOp};

use super::Writer;
use crate::LogError;
use crate::cells::is_torn_atomic;

/// An unmodelled operation, as far as its record describes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) enum Cause {
    /// The instruction at its site names the cause: mostly a call of uninstrumented code.
    #[default]
    Instruction,
    /// A word is accessed atomically that is not one piece.
    Torn,
    /// A fill of more memory than is tracked byte by byte.
    Vague,
    /// Memory that another process may change.
    Shared,
    /// Memory that was reused without a recorded free.
    Taken,
    /// An operation on a lock, a condition or a semaphore does not fit those that were recorded.
    Synchronisation,
    /// A variable holds what nothing recorded has written.
    ExternalWrite,
}

impl Cause {
    /// What it can only be about a record.
    pub(super) fn of(record: &Record<'_>) -> Cause {
        match *record {
            _ if is_torn_atomic(record) => Cause::Torn,
            _ if record.is_vague() => Cause::Vague,
            Record::Sync {
                op: SyncOp::Alloc | SyncOp::Part | SyncOp::Object | SyncOp::Free | SyncOp::Shared,
                ..
            } => Cause::Taken,
            Record::Sync { .. } => Cause::Synchronisation,
            Record::Opaque { .. } => Cause::Instruction,
            _ => Cause::Shared,
        }
    }
}

/// The code of the modules, to look up what is called where.
#[derive(Default)]
pub(super) struct Modules<'a> {
    /// The site tables of the modules, by their addresses.
    tables: BTreeMap<u64, &'a [u8]>,
    /// The code of those where there is a fence.
    read: FxHashMap<u64, Option<Code>>,
    /// The locations of the fences so far.
    known: FxHashMap<(u64, Cause), Loc>,
}

impl<'a> Modules<'a> {
    pub(super) fn add(&mut self, module: &Module<'a>) {
        self.tables.insert(module.address, module.table);
        self.read.remove(&module.address);
        self.known.clear();
    }

    /// What the instruction at a site does that is not understood, in words.
    fn words(&mut self, site: u64) -> String {
        self.deed(site).unwrap_or_else(|| "called from uninstrumented code".to_string())
    }

    fn deed(&mut self, site: u64) -> Option<String> {
        let (&start, &table) = self.tables.range(..=site).next_back()?;
        let code = self.read.entry(start).or_insert_with(|| Code::decode(table).ok()).as_ref()?;
        let CodePosition { function, instruction } =
            code.table.sites.get(usize::try_from(site - start).ok()?)?.position?;
        let function = code.functions.get(function as usize)?;
        let done = function.instructions.get(instruction as usize)?;
        Some(match done.opcode {
            opcode::CALL | opcode::INVOKE | opcode::CALLBR => match callee(function, instruction)? {
                Operand::Global(name) => fence::call_of(&demangle(code.table.text(name))),
                Operand::Other => "inline assembly".to_string(),
                _ => fence::call_of("through a pointer"),
            },
            _ => "an access of a kind that is not recorded".to_string(),
        })
    }
}

/// What a call calls stands after what it passes, and before the blocks that it leads to.
fn callee(function: &FunctionCode, instruction: u32) -> Option<Operand> {
    let operands = function.operands_of(function.instructions.get(instruction as usize)?);
    operands.iter().copied().take_while(|operand| !matches!(operand, Operand::Block(_))).last()
}

impl Writer<'_> {
    /// The location of a fence at the current record, which names the cause.
    pub(super) fn fence_location(&mut self, cause: Cause) -> Result<Loc, LogError> {
        let key = (self.here.record_site, cause);
        if let Some(&loc) = self.modules.known.get(&key) {
            return Ok(loc);
        }
        let words = match cause {
            Cause::Instruction => self.modules.words(self.here.record_site),
            Cause::Torn => "an atomic access to parts of words".to_string(),
            Cause::Vague => "fills too much memory at once".to_string(),
            Cause::Shared => "memory that other processes share".to_string(),
            Cause::Taken => "memory that was not seen to be given back".to_string(),
            Cause::Synchronisation => "a lock or semaphore that uninstrumented code changed".to_string(),
            Cause::ExternalWrite => "a read that shows an external write".to_string(),
        };
        let place = self.naming.location(self.here.record_site);
        let loc = self.naming.names.loc(fence::location(&place, &words).as_bytes())?;
        self.modules.known.insert(key, loc);
        Ok(loc)
    }
}
