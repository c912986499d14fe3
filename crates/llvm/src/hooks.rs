//! Calls of the functions that the runtime provides, see [`foretell_wire::hook`].

use foretell_wire::hook::{self, MemoryOrder};
use llvm_sys::{LLVMAtomicOrdering, LLVMTypeKind};

use crate::ir::{Builder, Module, Type, Types, Value};

/// How values of a type pass through hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HookType {
    /// As a number of so many bytes: 1, 2, 4 or 8.
    Word(u64),
    /// By way of memory, so many bytes.
    Block(u64),
    /// Not at all: how much memory it takes is not known before the program runs.
    Unknown,
}

/// Puts calls of hooks into a module.
pub(crate) struct Hooks {
    pub(crate) module: Module,
    pub(crate) types: Types,
    pub(crate) build: Builder,
    /// Stands for the site table until that is complete.
    table: Value,
}

impl Hooks {
    pub(crate) fn new(module: Module) -> Hooks {
        Hooks { module, types: module.types(), build: module.builder(), table: module.placeholder() }
    }

    pub(crate) fn shape(&self, of: Type) -> HookType {
        let bytes = || self.module.store_size(of);
        match of.kind() {
            LLVMTypeKind::LLVMIntegerTypeKind if matches!(of.int_width(), 8 | 16 | 32 | 64) => {
                HookType::Word(bytes())
            }
            LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => HookType::Word(bytes()),
            LLVMTypeKind::LLVMPointerTypeKind if bytes() == 8 => HookType::Word(8),
            LLVMTypeKind::LLVMScalableVectorTypeKind | LLVMTypeKind::LLVMTargetExtTypeKind => {
                HookType::Unknown
            }
            _ => HookType::Block(bytes()),
        }
    }

    /// How many bytes a value of the type takes.
    pub(crate) fn size(&self, of: Type) -> u64 {
        self.module.store_size(of)
    }

    /// The site with this number, as hooks get it.
    pub(crate) fn site(&self, number: u64) -> Value {
        self.table.byte_at(number, self.types)
    }

    /// The number of a site as hooks get it.
    pub(crate) fn site_number(&self, site: Value) -> u64 {
        if site == self.table { 0 } else { site.constant_offset() }
    }

    /// The site table is complete: its constant takes the place of what stood for it.
    pub(crate) fn settle(&self, table: Value) {
        self.module.settle(self.table, table);
    }

    /// Calls a hook without a result.
    pub(crate) fn tell(&self, name: &str, arguments: &[Value]) {
        self.call(name, self.types.void, arguments);
    }

    /// Calls the hook for words of so many bytes, without a result.
    pub(crate) fn tell_sized(&self, name: &str, bytes: u64, arguments: &[Value]) {
        self.tell(&format!("{name}{bytes}"), arguments);
    }

    /// Calls the hook for words of so many bytes; the result is a number of 64 bits.
    pub(crate) fn ask_sized(&self, name: &str, bytes: u64, arguments: &[Value]) -> Value {
        self.ask(&format!("{name}{bytes}"), arguments)
    }

    /// Calls a hook whose result is a number of 64 bits.
    pub(crate) fn ask(&self, name: &str, arguments: &[Value]) -> Value {
        self.call(name, self.types.int64, arguments)
    }

    /// Calls the hook with this name.
    pub(crate) fn call(&self, name: &str, result: Type, arguments: &[Value]) -> Value {
        let is_new = !self.module.has_function(name);
        let parameters: Vec<Type> = arguments.iter().map(|argument| argument.type_of()).collect();
        let hook = self.module.function(name, result, &parameters);
        if is_new {
            hook.0.add_attribute("nounwind");
        }
        self.build.call(hook, arguments)
    }

    /// A word as a number of 64 bits.
    pub(crate) fn to_number(&self, value: Value) -> Value {
        let of = value.type_of();
        let number = match of.kind() {
            LLVMTypeKind::LLVMPointerTypeKind => self.build.pointer_to_int(value, self.types.int64),
            LLVMTypeKind::LLVMFloatTypeKind => self.build.bits(value, self.types.int32),
            LLVMTypeKind::LLVMDoubleTypeKind => self.build.bits(value, self.types.int64),
            _ => value,
        };
        self.build.resize(number, self.types.int64)
    }

    /// The word of this type behind a number of 64 bits.
    pub(crate) fn to_word(&self, number: Value, of: Type) -> Value {
        match of.kind() {
            LLVMTypeKind::LLVMPointerTypeKind => self.build.int_to_pointer(number, of),
            LLVMTypeKind::LLVMFloatTypeKind => {
                self.build.bits(self.build.resize(number, self.types.int32), of)
            }
            LLVMTypeKind::LLVMDoubleTypeKind => self.build.bits(number, of),
            _ => self.build.resize(number, of),
        }
    }

    /// The code of a memory order.
    pub(crate) fn order(&self, ordering: LLVMAtomicOrdering) -> Value {
        let order = match ordering {
            LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => MemoryOrder::Acquire,
            LLVMAtomicOrdering::LLVMAtomicOrderingRelease => MemoryOrder::Release,
            LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => MemoryOrder::AcqRel,
            LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => MemoryOrder::SeqCst,
            _ => MemoryOrder::Relaxed,
        };
        self.types.int32.constant(order as u64)
    }

    /// Room for a block in the frame of `function`; what is made next stands before `instruction`.
    pub(crate) fn room(&self, function: Value, of: Type, instruction: Value) -> Value {
        let room = self.build.room(function, of);
        self.build.before(instruction);
        room
    }

    /// The module tells the runtime about itself before anything else in it runs. The flag, if there is one, becomes
    /// 0 where nothing will ever be recorded.
    pub(crate) fn add_constructor(&self, table: Value, bytes: u64, globals: &[Value], flag: Option<Value>) {
        let constructor = self.module.add_constructor("foretell.register");
        let number = |number: u64| self.types.int64.constant(number);
        let list = self.module.private_constant(self.module.pointers(globals));
        self.build.in_new_body(constructor, self.module);
        let arguments = [table, number(bytes), list, number(globals.len() as u64)];
        let is_recorded = self.call(hook::MODULE, self.types.byte, &arguments);
        if let Some(flag) = flag {
            self.build.store(is_recorded, flag);
        }
        self.build.return_nothing();
    }
}
