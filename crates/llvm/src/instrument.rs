//! The walk over a module that puts the hooks in.

pub(crate) mod modelled;
mod primitive;

use std::collections::{HashMap, HashSet};

use foretell_wire::hook::{self, PREFIX, Update};
use foretell_wire::library;
use foretell_wire::pack::SEGMENT;
use foretell_wire::record::LARGEST_LOCAL;
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic as NOT_ATOMIC;

use crate::effects::{self, Manner};
use crate::hooks::{HookType, Hooks};
use crate::ir::{Block, Module, Opcode, Type, Value};
use crate::lifetimes;
use crate::needless;
use crate::plain::Plain;
use crate::primitives::{self, Primitives};
use crate::private::{is_local, is_private};
use crate::reads::ReadDependents;
use crate::rust_std;
use crate::sites::{Described, Sites};
use crate::telling::Telling;
use crate::{fast_path, implied};

/// What functions may claim about themselves, and no longer do once they call hooks.
const BROKEN_PROMISES: [&str; 3] = ["memory", "nosync", "speculatable"];

/// Intrinsics that LLVM takes for accesses to memory, but that touch none which others may see.
const IDLE_INTRINSICS: [&str; 15] = [
    "llvm.annotation",
    "llvm.dbg",
    "llvm.eh",
    "llvm.instrprof",
    "llvm.invariant",
    "llvm.lifetime",
    "llvm.load.relative",
    "llvm.prefetch",
    "llvm.ptr.annotation",
    "llvm.stack",
    "llvm.type.",
    "llvm.va_",
    "llvm.var.annotation",
    "llvm.x86.rdtsc",
    "llvm.x86.sse2.pause",
];

/// Functions that stay as they are, and count as uninstrumented code. Coroutines are split before, so there are none
/// left: a call within one may begin on one thread and end on another.
const UNWANTED: [&str; 3] = ["naked", "disable_sanitizer_instrumentation", "presplitcoroutine"];

/// Instruments a module; says whether that changed it.
pub(crate) fn module(module: Module) -> bool {
    // Templates that a library has instantiated, say: ours tell what they do, those in the library do not.
    module.functions().into_iter().for_each(Value::adopt);
    let is_new = |function: &Value| is_wanted(*function) && !is_instrumented(*function);
    let functions: Vec<Value> = module.defined_functions().into_iter().filter(is_new).collect();
    if functions.is_empty() {
        return false;
    }
    let globals = module.addressable_globals();
    let plain = Plain::of(module, &functions);
    let left = module.defined_functions().into_iter().filter(|&function| rust_std::leaves(function));
    left.for_each(|function| plain.lend_to(function));
    let hooks = Hooks::new(module);
    let mut sites = Sites::new(module);
    let mut primitives = Primitives::default();
    let telling = Telling::of(&functions);
    let ends: HashMap<Value, Vec<Value>> =
        functions.iter().map(|&function| (function, known_locals(module, function))).collect();
    withdraw_promises(module, &plain);
    for &function in &functions {
        primitive::separate(function);
        modelled::separate(function);
        let instructions = function.instructions();
        let described = sites.describe(function, &instructions);
        let reads = ReadDependents::of(function, &instructions);
        let mut walk = FunctionWalk {
            hooks: &hooks,
            sites: &mut sites,
            primitives: &mut primitives,
            telling: &telling,
            reads,
            function,
            described,
            stack: None,
            returns: HashSet::new(),
        };
        walk.end_locals(&instructions, ends.get(&function).map_or(&[], Vec::as_slice));
        if let Some(gives_back) = effects::as_allocator(&function.name()) {
            walk.be_allocator(gives_back, &instructions);
        }
        if function.is_handed_on() {
            walk.be_called_back(&instructions);
        }
        for instruction in instructions {
            walk.instruction(instruction);
        }
        needless::remove(function);
        implied::remove(function, &hooks, &mut sites);
        fast_path::put_in(function, &hooks);
    }
    let is_empty = sites.is_empty();
    let table = sites.finish(&globals).encode();
    let constant = module.private_constant(module.bytes(&table));
    constant.align(SEGMENT);
    hooks.settle(constant);
    for function in functions {
        function.put_in_front(hooks.types.int64.constant(hook::MARK));
    }
    let flag = plain.connect(module, &hooks);
    if !is_empty {
        hooks.add_constructor(constant, table.len() as u64, &globals, flag);
    }
    true
}

/// Whether the function is one of those that are instrumented.
pub(crate) fn is_wanted(function: Value) -> bool {
    let unwanted = UNWANTED.iter().any(|attribute| function.has_attribute(attribute));
    let name = function.name();
    !unwanted
        && !name.starts_with(PREFIX)
        && !primitives::is_unseen(&name)
        && !rust_std::leaves(function)
        && (rust_std::is_instrumented() || !crate::rust_name::is_formatting(&name))
        && !effects::writes_to_console(&name)
}

/// Whether the function has its hooks already: the module was read from bitcode that we have made.
pub(crate) fn is_instrumented(function: Value) -> bool {
    function.number_in_front() == Some(hook::MARK)
}

/// A function that calls hooks, be it in another module, has effects. No optimisation may move or drop calls of it.
fn withdraw_promises(module: Module, plain: &Plain) {
    let may_have_hooks = |function: &Value| !function.is_intrinsic() && !plain.contains(*function);
    for function in module.functions().into_iter().filter(may_have_hooks) {
        for promise in BROKEN_PROMISES {
            function.remove_attribute(promise);
        }
    }
}

/// The walk over one function.
struct FunctionWalk<'a> {
    hooks: &'a Hooks,
    sites: &'a mut Sites,
    primitives: &'a mut Primitives,
    telling: &'a Telling,
    reads: ReadDependents,
    function: Value,
    described: Described,
    /// Which calls the thread is in when the function begins, if that was asked.
    stack: Option<Value>,
    /// The blocks that begin with a return to these.
    returns: HashSet<Block>,
}

impl FunctionWalk<'_> {
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
            Some(Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMIndirectBr) => self.branch(instruction),
            _ if instruction.may_divide_in_vain() => self.division(instruction),
            Some(Opcode::LLVMCall) if instruction.callee().is_intrinsic() => self.intrinsic(instruction),
            Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr) => self.call(instruction),
            _ => {}
        }
    }

    /// The site of an instruction, before which hooks are put from now on.
    fn begin(&mut self, instruction: Value) -> Value {
        self.hooks.build.before(instruction);
        self.hooks.site(self.sites.add(instruction, &self.described))
    }

    /// As [`FunctionWalk::begin`], for an access: if the address depends on what was read, that was a decision.
    fn begin_access(&mut self, instruction: Value, pointers: &[Value]) -> Value {
        let site = self.begin(instruction);
        if pointers.iter().any(|&pointer| self.reads.decide(pointer)) {
            self.hooks.tell(hook::BRANCH, &[site]);
        }
        site
    }

    /// As [`FunctionWalk::begin_access`], where a hook follows that always records.
    fn begin_told(&mut self, instruction: Value, pointers: &[Value]) -> Value {
        let site = self.begin_access(instruction, pointers);
        self.sites.set_told(self.hooks.site_number(site));
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
            HookType::Word(bytes) => {
                let site = self.begin_told(load, &[pointer]);
                let number = if atomic {
                    let order = self.hooks.order(load.ordering());
                    self.hooks.ask_sized(hook::ATOMIC_LOAD, bytes, &[site, pointer, order])
                } else {
                    self.hooks.ask_sized(hook::LOAD, bytes, &[site, pointer])
                };
                let value = self.hooks.to_word(number, of);
                self.replace(load, value);
            }
            HookType::Block(bytes) if !atomic => {
                let site = self.begin_told(load, &[pointer]);
                let room = self.hooks.room(self.function, of, load);
                let size = self.hooks.types.int64.constant(bytes);
                self.hooks.tell(hook::READ_RANGE, &[site, pointer, room, size]);
                let value = self.hooks.build.load(of, room);
                self.replace(load, value);
            }
            HookType::Block(_) | HookType::Unknown => self.unseen(load, &[pointer]),
        }
    }

    fn store(&mut self, store: Value) {
        let (value, pointer) = (store.operand(0), store.operand(1));
        if !is_ours(pointer) {
            return self.decision(store, Some(pointer));
        }
        let atomic = store.ordering() != NOT_ATOMIC;
        match self.hooks.shape(value.type_of()) {
            HookType::Word(bytes) => {
                let site = self.begin_told(store, &[pointer]);
                let number = self.hooks.to_number(value);
                if atomic {
                    let order = self.hooks.order(store.ordering());
                    self.hooks.tell_sized(hook::ATOMIC_STORE, bytes, &[site, pointer, number, order]);
                } else {
                    self.hooks.tell_sized(hook::STORE, bytes, &[site, pointer, number]);
                }
                store.erase();
            }
            HookType::Block(bytes) if !atomic => {
                let site = self.begin_told(store, &[pointer]);
                let room = self.hooks.room(self.function, value.type_of(), store);
                self.hooks.build.store(value, room);
                let size = self.hooks.types.int64.constant(bytes);
                self.hooks.tell(hook::WRITE_RANGE, &[site, pointer, room, size]);
                store.erase();
            }
            HookType::Block(_) | HookType::Unknown => self.unseen(store, &[pointer]),
        }
    }

    fn update(&mut self, update: Value) {
        let (pointer, operand, of) = (update.operand(0), update.operand(1), update.type_of());
        let known = Update::from_code(update.update_code());
        if !is_ours(pointer) {
            return self.decision(update, Some(pointer));
        }
        let (Some(known), HookType::Word(bytes)) = (known, self.hooks.shape(of)) else {
            return self.unseen(update, &[pointer]);
        };
        let site = self.begin_told(update, &[pointer]);
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
        if !is_ours(pointer) {
            return self.decision(exchange, Some(pointer));
        }
        let HookType::Word(bytes) = self.hooks.shape(of) else {
            return self.unseen(exchange, &[pointer]);
        };
        let site = self.begin_told(exchange, &[pointer]);
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

    /// A condition is 0 or 1, and a target is an address. Of wider values than that the lowest bits must do.
    fn branch(&mut self, branch: Value) {
        let Some(condition) = branch.condition().filter(|&condition| self.reads.decide(condition)) else {
            return;
        };
        let site = self.begin(branch);
        let value = self.hooks.to_number(condition);
        self.hooks.tell(hook::BRANCH_BY, &[site, value]);
    }

    /// Also for addresses in private memory: an index that depends on what was read may lead out of it.
    fn decision(&mut self, instruction: Value, by: Option<Value>) {
        if by.is_some_and(|by| self.reads.decide(by)) {
            let site = self.begin(instruction);
            self.hooks.tell(hook::BRANCH, &[site]);
        }
    }

    /// A division that is not possible raises a signal: whether it does is a decision. With a sign, both numbers
    /// decide.
    fn division(&mut self, division: Value) {
        let [dividend, divisor] = [0, 1].map(|index| division.operand(index));
        let is_signed = matches!(division.opcode(), Some(Opcode::LLVMSDiv | Opcode::LLVMSRem));
        let by = if is_signed && !self.reads.decide(divisor) { dividend } else { divisor };
        self.decision(division, Some(by));
    }

    fn intrinsic(&mut self, call: Value) {
        let name = call.callee().name();
        let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if is(&["llvm.memcpy.p0", "llvm.memcpy.inline.p0", "llvm.memmove.p0"]) {
            self.copy(call);
        } else if is(&["llvm.memset.p0", "llvm.memset.inline.p0"]) {
            self.fill(call);
        } else if call.touches_memory() && !is(&IDLE_INTRINSICS) {
            self.unseen(call, &call.arguments());
        }
    }

    /// An access that no hook knows (sixteen bytes at once, say): whatever it does, nothing may be reordered around
    /// it.
    fn unseen(&mut self, instruction: Value, operands: &[Value]) {
        let site = self.begin_told(instruction, operands);
        let before = self.hooks.ask(hook::LEAVE, &[site, self.hooks.types.pointer.null()]);
        self.come_back(instruction, before);
    }

    fn copy(&mut self, call: Value) {
        let [to, from, length] = [0, 1, 2].map(|index| call.operand(index));
        if is_private(to) && is_private(from) {
            return;
        }
        if from.address_space() != Some(0) {
            return self.unseen(call, &[to, from, length]);
        }
        let site = self.begin_told(call, &[to, from, length]);
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
        self.pass_by_value(call);
        if call.passes_by_value() || call.is_last_of_function() {
            self.sites.add_hidden(call, &self.described);
        }
        let callee = call.callee();
        if let Some(called) = primitives::called_function(callee) {
            return self.primitive(call, called);
        }
        if let Some(Manner::Accesses(effects)) = Manner::of_console(call) {
            return self.modelled(call, effects);
        }
        if is_told(callee) {
            return self.enter(call);
        }
        let manner = Manner::of(call);
        if manner != Manner::Unknown && effects::is_of_user(callee) {
            self.sites.tell_of_model(&callee.name());
        }
        match manner {
            Manner::Nothing => return,
            Manner::Performed => return self.perform(call),
            Manner::Accesses(effects) => return self.modelled(call, effects),
            _ => {}
        }
        let site = self.begin(call);
        if let Manner::Reads(argument) = manner {
            self.hooks.ask_sized(hook::LOAD, 8, &[site, call.operand(argument)]);
            self.hooks.tell(hook::BRANCH, &[site]);
        }
        // What unknown code is given matters only if it is not instrumented, which the runtime knows.
        let decides = |value: &Value| self.reads.decide(*value);
        let sees_arguments = manner != Manner::Unknown && call.arguments().iter().any(decides);
        if decides(&callee) || sees_arguments {
            self.hooks.tell(hook::BRANCH, &[site]);
        }
        match manner {
            Manner::Unknown => self.leave(call, site),
            Manner::Twice => {
                let before = self.hooks.ask(hook::ENTER, &[site]);
                self.come_back(call, before);
            }
            Manner::Quiet if tells_of_others(callee) && call.users().is_empty() => {
                self.hooks.tell(hook::UNASKED, &[site]);
            }
            _ => match effects::gives_back(callee) {
                Some(function) => self.give_back(site, &function),
                None if effects::takes(callee) => self.hooks.tell(hook::TAKE, &[site]),
                None => self.hooks.tell(hook::CALL, &[site]),
            },
        }
    }

    /// Only the runtime can find out whose function that is.
    fn give_back(&mut self, site: Value, function: &str) {
        let types = self.hooks.types;
        let (function, _) = self.hooks.module.function(function, types.void, &[types.pointer]);
        self.hooks.tell(hook::GIVE_BACK, &[site, function]);
    }

    /// A structure that is passed by value is read by the call itself: that is made a copy of its own.
    fn pass_by_value(&mut self, call: Value) {
        for (index, argument) in (0..).zip(call.arguments()) {
            let Some(of) = call.passed_by_value(index).filter(|_| !is_local(argument)) else { continue };
            let site = self.begin_access(call, &[argument]);
            let room = self.hooks.room(self.function, of, call);
            let size = self.hooks.types.int64.constant(self.hooks.size(of));
            self.hooks.tell(hook::COPY, &[site, room, argument, size]);
            // What is called in place of a return cannot be given what is in our frame.
            if !call.is_last_of_function() {
                call.set_operand(index, room);
            }
        }
    }

    /// The call of a library function whose hook does the same and tells about it.
    fn perform(&mut self, call: Value) {
        let arguments = call.arguments();
        let Some(hook) = library::hook(&call.callee().name(), arguments.len()) else { return };
        let site = self.begin_access(call, &arguments);
        let all: Vec<Value> = std::iter::once(site).chain(arguments).collect();
        let result = self.hooks.call(&hook, call.type_of(), &all);
        self.replace(call, result);
    }

    /// Of a function that several modules have, the linker may have taken one that is not instrumented. The thread
    /// that is called in place of a return takes the place of its caller in the stack, too.
    fn enter(&mut self, call: Value) {
        let callee = call.callee();
        if !self.telling.contains(callee) {
            return;
        }
        if callee.is_shared() {
            let site = self.begin(call);
            self.leave(call, site);
        } else if !call.is_last_of_function() {
            let site = self.begin(call);
            let before = self.hooks.ask(hook::ENTER, &[site]);
            self.come_back(call, before);
        }
    }

    /// It is not known what memory the callee touches, unless it turns out to be instrumented.
    fn leave(&mut self, call: Value, site: Value) {
        let callee = call.callee();
        let is_nowhere = callee.assembly().is_some() || callee.is_intrinsic();
        let address = match callee.opcode() {
            _ if is_nowhere => self.hooks.types.pointer.null(),
            // From a table of virtual functions: LLVM would take a function that is given it for a call of the
            // function.
            Some(Opcode::LLVMExtractValue) => self.hooks.build.freeze(callee),
            _ => callee,
        };
        self.sites.set_told(self.hooks.site_number(site));
        if call.is_last_of_function() {
            self.hooks.tell(hook::TAIL, &[site, address]);
        } else {
            let before = self.hooks.ask(hook::LEAVE, &[site, address]);
            self.come_back(call, before);
        }
    }

    /// After a call the thread is in the calls that it was in before. Blocks may be reached from several calls, so
    /// these go by what the function began with.
    fn come_back(&mut self, call: Value, before: Value) {
        if let Some(next) = call.next_in_block() {
            if next.opcode() != Some(Opcode::LLVMUnreachable) {
                self.hooks.build.before(next);
                self.hooks.tell(hook::RETURN, &[before]);
            }
            return;
        }
        for block in call.successors() {
            if self.returns.insert(block) {
                let stack = self.stack();
                self.hooks.build.before(block.first_ordinary());
                self.hooks.tell(hook::RETURN, &[stack]);
            }
        }
    }

    /// The frame of the function is no more after it.
    fn end_locals(&mut self, instructions: &[Value], locals: &[Value]) {
        if locals.is_empty() {
            return;
        }
        let is_end = |end: &&Value| matches!(end.opcode(), Some(Opcode::LLVMRet | Opcode::LLVMResume));
        for &end in instructions.iter().filter(is_end) {
            let site = self.hooks.site(self.sites.add(end, &self.described));
            self.hooks.build.before(end.before_return());
            for &local in locals {
                let size = self.hooks.types.int64.constant(self.hooks.size(local.allocated_type()));
                self.hooks.tell(hook::LOCAL_END, &[site, local, size]);
            }
        }
    }

    /// A function that others know by its address may be called by code that is not instrumented.
    fn be_called_back(&mut self, instructions: &[Value]) {
        self.hooks.build.before(self.function.first_instruction());
        let before = self.hooks.ask(hook::CALLED, &[]);
        self.stack = Some(self.hooks.ask(hook::STACK, &[]));
        for &instruction in instructions {
            if let Some(Opcode::LLVMRet | Opcode::LLVMResume) = instruction.opcode() {
                self.hooks.build.before(instruction.before_return());
                self.hooks.tell(hook::RETURN, &[before]);
            }
        }
    }

    /// Libraries without hooks call the program's allocator in the midst of what they do.
    fn be_allocator(&mut self, gives_back: bool, instructions: &[Value]) {
        self.hooks.build.before(self.function.first_instruction());
        self.hooks.tell(hook::ALLOCATOR, &[self.hooks.types.int32.constant(gives_back.into())]);
        for &instruction in instructions {
            if let Some(Opcode::LLVMRet | Opcode::LLVMResume) = instruction.opcode() {
                self.hooks.build.before(instruction.before_return());
                self.hooks.tell(hook::ALLOCATOR_END, &[]);
            }
        }
    }

    fn stack(&mut self) -> Value {
        *self.stack.get_or_insert_with(|| {
            self.hooks.build.before(self.function.first_instruction());
            self.hooks.ask(hook::STACK, &[])
        })
    }
}

/// The local variables of a function whose address others may know. They are looked for before any hook is there.
fn known_locals(module: Module, function: Value) -> Vec<Value> {
    let entry = function.blocks().first().copied();
    let is_local = |value: &Value| {
        value.opcode() == Some(Opcode::LLVMAlloca)
            && value.operand(0).constant_number() == Some(1)
            && entry == Some(value.block())
    };
    let has_end = |&variable: &Value| {
        let size = module.store_size(variable.allocated_type());
        (1..=LARGEST_LOCAL).contains(&size) && lifetimes::may_be_known(variable)
    };
    function.instructions().into_iter().filter(is_local).filter(has_end).collect()
}

/// Whether the function returns something that depends on who else has called it.
fn tells_of_others(callee: Value) -> bool {
    callee.name() == "pthread_barrier_wait"
}

/// Whether the callee is a function that is instrumented as part of this module.
pub(crate) fn is_told(callee: Value) -> bool {
    callee.is_function() && callee.is_defined() && !callee.is_replaceable() && is_wanted(callee)
}

/// Whether the pointer leads into ordinary memory that other threads may know of.
pub(crate) fn is_ours(pointer: Value) -> bool {
    pointer.address_space() == Some(0) && !is_private(pointer)
}
