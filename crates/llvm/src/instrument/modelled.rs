//! Calls of functions that have a model: hooks around the call record what it accesses, see [`foretell_models`].

use foretell_models::{Effect, Extent, Formatted, Guard, Place, Pointer, Size, Term};
use foretell_wire::hook::{self, Condition};

use super::Walk;
use crate::ir::{Opcode, Value};

/// More than any text has bytes.
const NO_LIMIT: u64 = i64::MAX as u64;

impl Walk<'_> {
    /// Reads are recorded before the call, because it may overwrite what it reads; everything else after it.
    pub(super) fn modelled(&mut self, call: Value, effects: &[Effect]) {
        let site = self.begin_access(call, &call.arguments());
        let callee = call.callee();
        let modelled = Modelled { walk: self, call, site, next: call };
        let [condition, word] = modelled.condition(effects);
        let records = modelled.number(u64::from(effects.iter().any(|effect| *effect != Effect::Console)));
        let before = self.hooks.ask(hook::MODEL_BEGIN, &[site, callee, condition, word, records]);
        effects.iter().for_each(|effect| modelled.before(effect));
        if let Some(next) = call.next_in_block() {
            self.hooks.build.before(next);
            let modelled = Modelled { walk: self, call, site, next };
            effects.iter().for_each(|effect| modelled.after(effect));
            self.hooks.tell(hook::MODEL_END, &[]);
        }
        self.come_back(call, before);
    }
}

/// Whether effects of the model are recorded after the call. Then it must be followed by an instruction.
pub(crate) fn has_later_effects(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| match effect {
        Effect::Reads(_, extent) => extent.needs_result(),
        Effect::Writes(..) | Effect::Scans(_) | Effect::Io(_) | Effect::Clock => true,
        Effect::Prints(_) | Effect::Console | Effect::Requires(_) => false,
    })
}

/// A call whose effects are being recorded.
struct Modelled<'a, 'b> {
    walk: &'a Walk<'b>,
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
            Effect::Console => Some((Condition::Console, self.call.operand(0))),
            Effect::Requires(place) => {
                let pointer = self.pointer(place.pointer)?;
                let word = hooks.build.after(pointer, self.number(place.offset), hooks.types);
                Some((Condition::Zero, word))
            }
            _ => None,
        });
        let (condition, word) = found.unwrap_or((Condition::None, hooks.types.pointer.null()));
        [self.number(condition as u64), word]
    }

    fn before(&self, effect: &Effect) {
        match effect {
            Effect::Reads(place, extent) if !extent.needs_result() => self.reads(place, extent),
            Effect::Prints(formatted) => self.formats(formatted, hook::MODEL_PRINT, &[]),
            _ => {}
        }
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
            _ => {}
        }
    }

    fn reads(&self, place: &Place, extent: &Extent) {
        self.accesses([hook::MODEL_READ, hook::MODEL_READ_TEXT], place, extent, Guard::Always);
    }

    fn accesses(&self, [of_bytes, of_text]: [&str; 2], place: &Place, extent: &Extent, guard: Guard) {
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
        build.select(is_negative, self.number(0), build.add(product, self.number(more)))
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
        use crate::hooks::Shape;
        match self.walk.hooks.shape(value.type_of()) {
            Shape::Word(_) => self.walk.hooks.to_number(value),
            _ => self.number(0),
        }
    }
}

/// Whether the call is one that hooks can follow.
pub(crate) fn can_be_followed(call: Value, effects: &[Effect]) -> bool {
    match call.opcode() {
        Some(Opcode::LLVMCall) => !call.is_last_of_function() && call.next_in_block().is_some(),
        Some(Opcode::LLVMInvoke) => !has_later_effects(effects),
        _ => false,
    }
}
