//! The walk over a module that puts the hooks in.

mod library;

use foretell_wire::hook::{self, PREFIX, Update};
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic as NOT_ATOMIC;

use crate::hooks::{Hooks, Shape};
use crate::ir::{Module, Opcode, Type, Value};
use crate::manner::Manner;
use crate::primitives::{self, Primitives};
use crate::private::is_private;
use crate::reads::Reads;
use crate::sites::Sites;

/// What functions may claim about themselves, and no longer do once they call hooks.
const BROKEN_PROMISES: [&str; 3] = ["memory", "nosync", "speculatable"];

/// Instruments a module; says whether that changed it.
pub(crate) fn module(module: Module) -> bool {
    let functions: Vec<Value> = module.defined_functions().into_iter().filter(|&f| is_wanted(f)).collect();
    if functions.is_empty() {
        return false;
    }
    let globals = module.addressable_globals();
    let hooks = Hooks::new(module);
    let mut sites = Sites::default();
    let mut primitives = Primitives::default();
    withdraw_promises(module);
    for &function in &functions {
        let name = function.name();
        library::separate(function);
        let instructions = function.instructions();
        let reads = Reads::of(function, &instructions);
        let mut walk = Walk {
            hooks: &hooks,
            sites: &mut sites,
            primitives: &mut primitives,
            reads,
            function,
            name: &name,
            depth: None,
        };
        for instruction in instructions {
            walk.instruction(instruction);
        }
    }
    let is_empty = sites.is_empty();
    let table = sites.finish(&globals, module).encode();
    let constant = module.private_constant(module.bytes(&table));
    hooks.settle(constant);
    if !is_empty {
        let known: Vec<Value> = functions.into_iter().filter(|function| !function.is_droppable()).collect();
        hooks.add_constructor(constant, table.len() as u64, &globals, &known);
    }
    true
}

fn is_wanted(function: Value) -> bool {
    !function.has_attribute("naked")
        && !function.has_attribute("disable_sanitizer_instrumentation")
        && !function.name().starts_with(PREFIX)
        && !primitives::is_unseen(&function.name())
}

/// A function that calls hooks, be it in another module, has effects. Nobody may move or drop calls of it.
fn withdraw_promises(module: Module) {
    let functions = module.defined_functions().into_iter().chain(module.declared_functions());
    for function in functions.filter(|function| !function.is_intrinsic()) {
        for promise in BROKEN_PROMISES {
            function.remove_attribute(promise);
        }
    }
}

/// The walk over one function.
struct Walk<'a> {
    hooks: &'a Hooks,
    sites: &'a mut Sites,
    primitives: &'a mut Primitives,
    reads: Reads,
    function: Value,
    name: &'a str,
    /// In how many calls of unknown code the thread is when the function begins, if that was asked.
    depth: Option<Value>,
}

impl Walk<'_> {
    fn instruction(&mut self, instruction: Value) {
        if self.is_part_of_primitive(instruction) {
            return;
        }
        match instruction.opcode() {
            Some(Opcode::LLVMLoad) => self.load(instruction),
            Some(Opcode::LLVMStore) => self.store(instruction),
            Some(Opcode::LLVMAtomicRMW) => self.update(instruction),
            Some(Opcode::LLVMAtomicCmpXchg) => self.exchange(instruction),
            Some(Opcode::LLVMFence) if !instruction.is_single_thread() => self.fence(instruction),
            Some(Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr) => {
                let condition = instruction.condition();
                self.decision(instruction, condition);
            }
            // A division by zero ends the program: whether it happens is a decision.
            Some(Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem) => {
                self.decision(instruction, Some(instruction.operand(1)));
            }
            Some(Opcode::LLVMCall) if instruction.callee().is_intrinsic() => self.intrinsic(instruction),
            Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr) => self.call(instruction),
            _ => {}
        }
    }

    /// The site of an instruction, before which hooks are put from now on.
    fn begin(&mut self, instruction: Value) -> Value {
        self.hooks.build.before(instruction);
        self.hooks.site(self.sites.add(instruction, self.name))
    }

    /// As [`Walk::begin`], for an access: if the address depends on what was read, that was a decision.
    fn begin_access(&mut self, instruction: Value, pointers: &[Value]) -> Value {
        let site = self.begin(instruction);
        if pointers.iter().any(|&pointer| self.reads.decide(pointer)) {
            self.hooks.tell(hook::BRANCH, &[site]);
        }
        site
    }

    fn replace(&mut self, instruction: Value, value: Value) {
        self.reads.replaced(instruction, value);
        instruction.replace_with(value);
    }

    fn load(&mut self, load: Value) {
        let (pointer, of) = (load.operand(0), load.type_of());
        if !is_ours(pointer) {
            return self.decision(load, Some(pointer));
        }
        let atomic = load.ordering() != NOT_ATOMIC;
        match self.hooks.shape(of) {
            Shape::Word(bytes) => {
                let site = self.begin_access(load, &[pointer]);
                let number = if atomic {
                    let order = self.hooks.order(load.ordering());
                    self.hooks.ask_sized(hook::ATOMIC_LOAD, bytes, &[site, pointer, order])
                } else {
                    self.hooks.ask_sized(hook::LOAD, bytes, &[site, pointer])
                };
                let value = self.hooks.to_word(number, of);
                self.replace(load, value);
            }
            Shape::Block(bytes) if !atomic => {
                let site = self.begin_access(load, &[pointer]);
                let room = self.hooks.room(self.function, of, load);
                let size = self.hooks.types.int64.constant(bytes);
                self.hooks.tell(hook::READ_RANGE, &[site, pointer, room, size]);
                let value = self.hooks.build.load(of, room);
                self.replace(load, value);
            }
            Shape::Block(_) | Shape::Unknown => {}
        }
    }

    fn store(&mut self, store: Value) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        if !is_ours(pointer) {
            return self.decision(store, Some(pointer));
        }
        let atomic = store.ordering() != NOT_ATOMIC;
        match self.hooks.shape(value.type_of()) {
            Shape::Word(bytes) => {
                let site = self.begin_access(store, &[pointer]);
                let number = self.hooks.to_number(value);
                if atomic {
                    let order = self.hooks.order(store.ordering());
                    self.hooks.tell_sized(hook::ATOMIC_STORE, bytes, &[site, pointer, number, order]);
                } else {
                    self.hooks.tell_sized(hook::STORE, bytes, &[site, pointer, number]);
                }
                store.erase();
            }
            Shape::Block(bytes) if !atomic => {
                let site = self.begin_access(store, &[pointer]);
                let room = self.hooks.room(self.function, value.type_of(), store);
                self.hooks.build.store(value, room);
                let size = self.hooks.types.int64.constant(bytes);
                self.hooks.tell(hook::WRITE_RANGE, &[site, pointer, room, size]);
                store.erase();
            }
            Shape::Block(_) | Shape::Unknown => {}
        }
    }

    fn update(&mut self, update: Value) {
        let (pointer, operand, of) = (update.operand(0), update.operand(1), update.type_of());
        let known = Update::from_code(update.update_code());
        let (Some(known), Shape::Word(bytes), true) = (known, self.hooks.shape(of), is_ours(pointer)) else {
            return;
        };
        let site = self.begin_access(update, &[pointer]);
        let operand = self.hooks.to_number(operand);
        let code = self.hooks.types.int32.constant(known as u64);
        let order = self.hooks.order(update.ordering());
        let number = self.hooks.ask_sized(hook::RMW, bytes, &[site, pointer, operand, code, order]);
        let value = self.hooks.to_word(number, of);
        self.replace(update, value);
    }

    /// A compare-exchange yields what was there and whether that was what was expected.
    fn exchange(&mut self, exchange: Value) {
        let [pointer, expected, desired] = [0, 1, 2].map(|index| exchange.operand(index));
        let of = expected.type_of();
        let (Shape::Word(bytes), true) = (self.hooks.shape(of), is_ours(pointer)) else { return };
        let site = self.begin_access(exchange, &[pointer]);
        let expected = self.hooks.to_number(expected);
        let desired = self.hooks.to_number(desired);
        let (success, failure) = exchange.exchange_orderings();
        let orders = [self.hooks.order(success), self.hooks.order(failure)];
        let arguments = [site, pointer, expected, desired, orders[0], orders[1]];
        let number = self.hooks.ask_sized(hook::CMPXCHG, bytes, &arguments);
        self.replace_exchange(exchange, number, expected, of);
    }

    fn replace_exchange(&mut self, exchange: Value, number: Value, expected: Value, of: Type) {
        let succeeded = self.hooks.build.equal(number, expected);
        let found = self.hooks.to_word(number, of);
        let pair = exchange.type_of().poison();
        let pair = self.hooks.build.insert(pair, found, 0);
        let pair = self.hooks.build.insert(pair, succeeded, 1);
        self.replace(exchange, pair);
    }

    /// The fence itself stays where it is.
    fn fence(&mut self, fence: Value) {
        self.hooks.build.before(fence);
        self.hooks.tell(hook::FENCE, &[self.hooks.order(fence.ordering())]);
    }

    /// Also for addresses in private memory: an index that depends on what was read may lead out of it.
    fn decision(&mut self, instruction: Value, by: Option<Value>) {
        if by.is_some_and(|by| self.reads.decide(by)) {
            let site = self.begin(instruction);
            self.hooks.tell(hook::BRANCH, &[site]);
        }
    }

    fn intrinsic(&mut self, call: Value) {
        let name = call.callee().name();
        let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if is(&["llvm.memcpy.p0", "llvm.memcpy.inline.p0", "llvm.memmove.p0"]) {
            self.copy(call);
        } else if is(&["llvm.memset.p0", "llvm.memset.inline.p0"]) {
            self.fill(call);
        }
    }

    fn copy(&mut self, call: Value) {
        let [to, from, length] = [0, 1, 2].map(|index| call.operand(index));
        if is_private(to) && is_private(from) || from.address_space() != Some(0) {
            return;
        }
        let site = self.begin_access(call, &[to, from, length]);
        let length = self.hooks.to_number(length);
        self.hooks.tell(hook::COPY, &[site, to, from, length]);
        call.erase();
    }

    fn fill(&mut self, call: Value) {
        let [to, byte, length] = [0, 1, 2].map(|index| call.operand(index));
        if is_private(to) {
            return;
        }
        let site = self.begin_access(call, &[to, length]);
        let byte = self.hooks.build.resize(byte, self.hooks.types.int32);
        let length = self.hooks.to_number(length);
        self.hooks.tell(hook::FILL, &[site, to, byte, length]);
        call.erase();
    }

    /// A function of this module tells everything itself; any other may depend on what it is given.
    fn call(&mut self, call: Value) {
        for promise in BROKEN_PROMISES {
            call.remove_call_attribute(promise);
        }
        let callee = call.callee();
        if callee.is_function() {
            if let Some(called) = primitives::called_function(&callee.name()) {
                return self.primitive(call, called);
            }
            if callee.is_defined() && is_wanted(callee) {
                return;
            }
        }
        let manner = Manner::of(call);
        if manner == Manner::Nothing {
            return;
        }
        let site = self.begin(call);
        if let Manner::Reads(argument) = manner {
            self.hooks.ask_sized(hook::LOAD, 8, &[site, call.operand(argument)]);
            self.hooks.tell(hook::BRANCH, &[site]);
        }
        let decides = |value: &Value| self.reads.decide(*value);
        if decides(&callee) || call.arguments().iter().any(decides) {
            self.hooks.tell(hook::BRANCH, &[site]);
        }
        match manner {
            Manner::Unknown => self.leave(call, site),
            _ => self.hooks.tell(hook::CALL, &[site]),
        }
    }

    /// Nobody sees what memory the callee touches, unless it turns out to be instrumented.
    fn leave(&mut self, call: Value, site: Value) {
        let depth = self.depth();
        self.hooks.build.before(call);
        let callee = call.callee();
        let address = if callee.assembly().is_some() { self.hooks.types.pointer.null() } else { callee };
        self.hooks.tell(hook::LEAVE, &[site, address]);
        let back = if call.is_last_of_function() { vec![call] } else { call.ways_on() };
        for instruction in back {
            self.hooks.build.before(instruction);
            self.hooks.tell(hook::RETURN, &[site, depth]);
        }
    }

    fn depth(&mut self) -> Value {
        *self.depth.get_or_insert_with(|| {
            self.hooks.build.before(self.function.first_instruction());
            self.hooks.ask_depth()
        })
    }
}

/// Whether the pointer leads into ordinary memory that other threads may know of.
fn is_ours(pointer: Value) -> bool {
    pointer.address_space() == Some(0) && !is_private(pointer)
}
