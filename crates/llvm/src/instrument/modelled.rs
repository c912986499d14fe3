//! Calls of functions that have a model: hooks around the call record what it accesses, see [`foretell_models`].

use foretell_models::{
    Channel, Effect, Extent, Formatted, Guard, MemoryRef, Object, Pointer, Size, Synchronisation, Term,
};
use foretell_wire::act::{self, MIGHT_NOT_HAVE};
use foretell_wire::hook::{self, HookCondition, MemoryOrder};

use super::FunctionWalk;
use crate::effects::Manner;
use crate::ir::{Block, Opcode, Value};

/// More than any text has bytes.
const NO_LIMIT: u64 = i64::MAX as u64;

impl FunctionWalk<'_> {
    /// Reads are recorded before the call, because it may overwrite what it reads; everything else after it.
    pub(super) fn modelled(&mut self, call: Value, effects: &[Effect]) {
        let site = self.begin_access(call, &call.arguments());
        let callee = call.callee();
        let modelled = Modelled { walk: self, call, site, next: call };
        let [condition, word] = modelled.condition(effects);
        let records = modelled.number(u64::from(effects.iter().any(|effect| *effect != Effect::Console)));
        let before = self.hooks.ask(hook::MODEL_BEGIN, &[site, callee, condition, word, records]);
        effects.iter().for_each(|effect| modelled.before(effect));
        let holds = effects.iter().any(Effect::lets_others_run).then(|| {
            let channel = effects.iter().find_map(|effect| match effect {
                Effect::Calls(channel) => *channel,
                _ => None,
            });
            let does_io = effects.contains(&Effect::Io(None));
            let channel = channel.map_or(0, |channel| act::channel(channel.0, does_io));
            self.hooks.ask(hook::MODEL_LEAVE, &[site, modelled.number(channel)])
        });
        for (way, next) in ways_on(call).into_iter().enumerate() {
            if next.opcode() == Some(Opcode::LLVMUnreachable) {
                continue;
            }
            self.hooks.build.before(next);
            self.hooks.tell(hook::RETURN, &[before]);
            if let Some(holds) = holds {
                self.hooks.tell(hook::MODEL_BACK, &[holds]);
            }
            // On the second way an exception has come instead of a result.
            if way == 0 {
                let modelled = Modelled { walk: self, call, site, next };
                effects.iter().for_each(|effect| modelled.after(effect));
            }
            self.hooks.tell(hook::MODEL_END, &[]);
        }
    }
}

/// Each such call that may throw gets ways on that are its own, where hooks can stand.
pub(super) fn separate(function: Value) {
    let is_invoke = |instruction: &Value| instruction.opcode() == Some(Opcode::LLVMInvoke);
    for invoke in function.instructions().into_iter().filter(is_invoke) {
        if matches!(Manner::of(invoke), Manner::Accesses(_)) || Manner::of_console(invoke).is_some() {
            invoke.own_ways();
        }
    }
}

/// A call whose effects are being recorded.
struct Modelled<'a, 'b> {
    walk: &'a FunctionWalk<'b>,
    call: Value,
    site: Value,
    /// The instruction that the hooks stand before.
    next: Value,
}

impl Modelled<'_, '_> {
    fn number(&self, number: u64) -> Value {
        self.walk.hooks.types.int64.constant(number)
    }

    /// Under which condition the model holds, and of what.
    fn condition(&self, effects: &[Effect]) -> [Value; 2] {
        let hooks = self.walk.hooks;
        let found = effects.iter().find_map(|effect| match effect {
            Effect::Console => Some((HookCondition::Console, self.call.operand(0))),
            Effect::OpenMp => Some((HookCondition::OpenMp, hooks.types.pointer.null())),
            Effect::Requires(place) => {
                let pointer = self.pointer(place.pointer)?;
                let word = hooks.build.after(pointer, self.number(place.offset), hooks.types);
                Some((HookCondition::Zero, word))
            }
            _ => None,
        });
        let (condition, word) = found.unwrap_or((HookCondition::None, hooks.types.pointer.null()));
        [self.number(condition as u64), word]
    }

    fn before(&self, effect: &Effect) {
        match effect {
            Effect::Reads(place, extent) if !extent.needs_result() => self.reads(place, extent),
            Effect::Prints(formatted) => self.formats(formatted, hook::MODEL_PRINT, &[]),
            Effect::Frees(place) => {
                if let Some(at) = self.address(place) {
                    self.walk.hooks.tell(hook::MODEL_FREE, &[self.site, at]);
                }
            }
            Effect::Sync(sync) if sync.act.is_early() => {
                self.synchronises(sync, hook::MODEL_ACT, Some(self.number(1)));
            }
            Effect::Sync(sync) if !is_result(sync.object) => self.synchronises(sync, hook::MODEL_TRY, None),
            _ => {}
        }
    }

    fn synchronises(&self, sync: &Synchronisation, hook: &str, did: Option<Value>) {
        let object = match sync.object {
            Object::At(place) => self.address(&place),
            Object::Channel(Channel(number)) => {
                let types = self.walk.hooks.types;
                Some(self.walk.hooks.build.int_to_pointer(self.number(number.into()), types.pointer))
            }
        };
        let Some(object) = object else { return };
        let bytes = || {
            let hooks = self.walk.hooks;
            hooks.build.int_to_pointer(self.number(sync.bytes.into()), hooks.types.pointer)
        };
        let lock = sync.lock.and_then(|lock| self.address(&lock)).unwrap_or_else(bytes);
        let act = self.number(sync.act as u64);
        let arguments: Vec<Value> = [self.site, act, object, lock].into_iter().chain(did).collect();
        self.walk.hooks.tell(hook, &arguments);
    }

    /// Where a place is. What an argument points to is read by code without a hook.
    fn address(&self, place: &MemoryRef) -> Option<Value> {
        let hooks = self.walk.hooks;
        let mut pointer = self.pointer(place.pointer)?;
        if let Pointer::Behind(_) = place.pointer {
            pointer = hooks.build.load(hooks.types.pointer, pointer);
        }
        Some(hooks.build.after(pointer, self.number(place.offset), hooks.types))
    }

    fn after(&self, effect: &Effect) {
        let hooks = self.walk.hooks;
        match effect {
            Effect::Reads(place, extent) if extent.needs_result() => self.reads(place, extent),
            Effect::Writes(place, extent, guard) => {
                self.accesses([hook::MODEL_WRITE, hook::MODEL_WRITE_TEXT], place, extent, *guard);
            }
            Effect::Scans(formatted) => {
                let result = self.term(Term::Result);
                self.formats(formatted, hook::MODEL_SCAN, &[result]);
            }
            Effect::Io(stream) => {
                let stream = stream.map(|stream| self.call.operand(stream));
                hooks.tell(hook::MODEL_IO, &[self.site, stream.unwrap_or(hooks.types.pointer.null())]);
            }
            Effect::Clock => hooks.tell(hook::MODEL_CLOCK, &[self.site]),
            Effect::Flushes => {
                hooks.tell(hook::FENCE, &[hooks.types.int32.constant(MemoryOrder::SeqCst as u64)]);
            }
            Effect::Allocates(size) => {
                if let Some(result) = self.pointer(Pointer::Result) {
                    hooks.tell(hook::MODEL_ALLOC, &[self.site, result, self.size(*size)]);
                }
            }
            Effect::Sync(sync) if !sync.act.is_early() => {
                let did = if sync.guard == Guard::Always { 1 } else { MIGHT_NOT_HAVE };
                let did = self.guarded(self.number(did), sync.guard);
                self.synchronises(sync, hook::MODEL_ACT, Some(did));
            }
            _ => {}
        }
    }

    fn reads(&self, place: &MemoryRef, extent: &Extent) {
        self.accesses([hook::MODEL_READ, hook::MODEL_READ_TEXT], place, extent, Guard::Always);
    }

    fn accesses(&self, [of_bytes, of_text]: [&str; 2], place: &MemoryRef, extent: &Extent, guard: Guard) {
        let (hook, size) = match *extent {
            Extent::Bytes(size) => (of_bytes, self.size(size)),
            Extent::Text(limit) => {
                (of_text, limit.map_or_else(|| self.number(NO_LIMIT), |limit| self.size(limit)))
            }
        };
        let size = self.guarded(size, guard);
        let Some(pointer) = self.pointer(place.pointer) else { return };
        let (indirect, offset) = match place.pointer {
            Pointer::Behind(_) => (1, place.offset),
            Pointer::Argument(_) | Pointer::Result => (0, place.offset),
        };
        let arguments = [self.site, pointer, self.number(indirect), self.number(offset), size];
        self.walk.hooks.tell(hook, &arguments);
    }

    fn pointer(&self, pointer: Pointer) -> Option<Value> {
        let value = match pointer {
            Pointer::Argument(number) | Pointer::Behind(number) => self.call.operand(number),
            Pointer::Result => self.call,
        };
        (value.type_of() == self.walk.hooks.types.pointer).then_some(value)
    }

    fn guarded(&self, size: Value, guard: Guard) -> Value {
        let build = &self.walk.hooks.build;
        let is_zero = |this: &Self| build.equal(this.term(Term::Result), this.number(0));
        match guard {
            Guard::Always => size,
            Guard::IfResult => build.select(is_zero(self), self.number(0), size),
            Guard::UnlessResult => build.select(is_zero(self), size, self.number(0)),
        }
    }

    /// A negative factor stands for a failure: then nothing is accessed.
    fn size(&self, Size(one, other, more): Size) -> Value {
        let build = &self.walk.hooks.build;
        let one = self.term(one);
        let mut is_negative = build.is_negative(one);
        let mut product = one;
        if let Some(other) = other.map(|other| self.term(other)) {
            is_negative = build.or(is_negative, build.is_negative(other));
            product = build.multiply(one, other);
        }
        build.select(is_negative, self.number(0), build.add(product, self.term(more)))
    }

    fn term(&self, term: Term) -> Value {
        match term {
            Term::Number(number) => self.number(number),
            Term::Argument(number) => self.signed(self.call.operand(number)),
            Term::Result => self.signed(self.call),
        }
    }

    fn signed(&self, value: Value) -> Value {
        let hooks = self.walk.hooks;
        if value.type_of() == hooks.types.pointer {
            hooks.to_number(value)
        } else {
            hooks.build.resize_signed(value, hooks.types.int64)
        }
    }

    /// The arguments after the format are put into an array, which the runtime reads as the format says.
    fn formats(&self, formatted: &Formatted, hook: &str, more: &[Value]) {
        let hooks = self.walk.hooks;
        let format = self.call.operand(formatted.format);
        let mut arguments = vec![self.site, format];
        match formatted.list {
            Some(list) => arguments.extend([self.call.operand(list), self.number(u64::MAX)]),
            None => {
                let given = self.call.arguments();
                let given = given.get(formatted.format as usize + 1..).unwrap_or_default();
                arguments.extend([self.array(given), self.number(given.len() as u64)]);
            }
        }
        arguments.extend(more);
        hooks.tell(hook, &arguments);
    }

    fn array(&self, values: &[Value]) -> Value {
        let hooks = self.walk.hooks;
        let types = hooks.types;
        if values.is_empty() {
            return types.pointer.null();
        }
        let numbers: Vec<Value> = values.iter().map(|&value| self.word(value)).collect();
        let room = hooks.room(self.walk.function, types.int64.array(values.len() as u64), self.next);
        for (index, number) in (0..).zip(numbers) {
            hooks.build.store(number, hooks.build.after(room, self.number(8 * index), types));
        }
        room
    }

    /// An argument as a number; of what has no number (a `long double`, say) no format needs the value.
    fn word(&self, value: Value) -> Value {
        use crate::hooks::HookType;
        match self.walk.hooks.shape(value.type_of()) {
            HookType::Word(_) => self.walk.hooks.to_number(value),
            _ => self.number(0),
        }
    }
}

fn is_result(object: Object) -> bool {
    matches!(object, Object::At(MemoryRef { pointer: Pointer::Result, .. }))
}

/// Where the thread goes on after a call: by what it returns, or by an exception.
pub(super) fn ways_on(call: Value) -> Vec<Value> {
    match call.next_in_block() {
        Some(next) => vec![next],
        None => call.successors().into_iter().map(Block::first_ordinary).collect(),
    }
}

/// Whether the call is one that hooks can follow.
pub(crate) fn can_be_followed(call: Value) -> bool {
    match call.opcode() {
        Some(Opcode::LLVMCall) => !call.is_last_of_function() && call.next_in_block().is_some(),
        Some(Opcode::LLVMInvoke) => true,
        _ => false,
    }
}
