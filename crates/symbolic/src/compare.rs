//! Compares each record with the recomputed values; they must be equal.

use foretell_wire::code::{Operand, opcode};
use foretell_wire::hook::Update;
use foretell_wire::record::Record;

use crate::evaluate::Given;
use crate::machine::{Frame, Machine};
use crate::recompute::{Recomputed, Tally};
use crate::routine::Routine;
use crate::values::{Known, Scalar, Type, UNKNOWN};

/// How many differences are listed.
const LISTED: usize = 100;

/// A record, and the instruction that has made it.
pub(crate) struct Comparison<'a> {
    pub(crate) machine: &'a mut Machine,
    pub(crate) found: &'a mut Recomputed,
    pub(crate) routine: &'a Routine,
    pub(crate) frame: &'a mut Frame,
    pub(crate) index: u32,
}

impl Comparison<'_> {
    /// An access to memory; says whether the instruction is done with that.
    pub(crate) fn access(&mut self, record: &Record<'_>) -> bool {
        // Accesses that are part of a lock, say, have records of another kind, with artificial addresses. A fill of
        // length 0 has no record.
        if !self.routine.is_recorded(self.index) && !matches!(record, Record::Fill { .. }) {
            return false;
        }
        let values: Vec<Operand> = self.machine.values(self.routine, self.index).collect();
        match (self.machine.opcode(self.routine, self.index), *record, &values[..]) {
            (
                opcode::LOAD,
                Record::Read { addr, value, .. } | Record::AtomicLoad { addr, value, .. },
                &[pointer],
            ) => {
                self.address(pointer, addr);
                self.set([Some(value), None]);
            }
            (opcode::LOAD, Record::ReadRange { addr, .. }, &[pointer]) => {
                self.address(pointer, addr);
                self.set(UNKNOWN);
            }
            (
                opcode::STORE,
                Record::Write { addr, size, value, .. } | Record::AtomicStore { addr, size, value, .. },
                &[stored, pointer],
            ) => {
                self.address(pointer, addr);
                self.stored(size, self.known(stored), value);
            }
            (opcode::STORE, Record::WriteRange { addr, .. }, &[_, pointer]) => self.address(pointer, addr),
            (opcode::ATOMICRMW, Record::Rmw { addr, size, read, written, .. }, &[pointer, operand]) => {
                self.address(pointer, addr);
                self.stored(size, self.updated(size, read, operand), written);
                self.set([Some(read), None]);
            }
            (
                opcode::CMPXCHG,
                Record::Rmw { addr, size, read, written, .. },
                &[pointer, expected, desired],
            ) => {
                self.address(pointer, addr);
                self.stored(size, self.known(expected), read);
                self.stored(size, self.known(desired), written);
                self.set([Some(read), Some(1)]);
            }
            (opcode::CMPXCHG, Record::AtomicLoad { addr, size, value, .. }, &[pointer, expected, _]) => {
                self.address(pointer, addr);
                let fails = self.known(expected).map(|expected| u64::from(word(size).fit(expected) == value));
                self.stored(1, fails, 0);
                self.set([Some(value), Some(0)]);
            }
            (opcode::CALL, Record::Copy { to, from, bytes, .. }, &[target, source, length, ..])
                if self.is_for_memory() =>
            {
                self.address(target, to);
                self.address(source, from);
                self.address(length, bytes.len() as u64);
            }
            (opcode::CALL, Record::Fill { addr, byte, length, .. }, &[target, content, count, ..]) => {
                self.address(target, addr);
                self.stored(1, self.known(content), byte.into());
                self.address(count, length);
            }
            _ => return false,
        }
        true
    }

    /// The value that a branch or switch depends on.
    pub(crate) fn decision(&mut self, by: u64) {
        let Some(condition) = self.machine.values(self.routine, self.index).next() else { return };
        let given = self.given(condition);
        let by = given.of.and_then(Type::scalar).map_or(by, |of| of.fit(by));
        if let Some(known) = given.known[0].filter(|&known| known != by) {
            self.found.decisions.differ += 1;
            self.note(&format!("it decides by {by:#x}, but {known:#x} was computed"));
        }
        if let Some(place) = self.routine.place(condition) {
            self.frame.set(place, [Some(by), None]);
        }
    }

    /// Lists a difference.
    pub(crate) fn note(&mut self, text: &str) {
        if self.found.differences.len() < LISTED {
            let place =
                self.machine.functions.get(self.routine.id).map(|function| function.describe(self.index));
            self.found.differences.push(format!("{}: {text}", place.unwrap_or_default()));
        }
    }

    fn given(&self, operand: Operand) -> Given {
        self.machine.given(self.routine, self.frame, operand)
    }

    fn known(&self, operand: Operand) -> Option<u64> {
        self.given(operand).known[0]
    }

    fn set(&mut self, known: Known) {
        let place = self.index as usize;
        self.frame.set(place, self.routine.type_at(place).fit(known));
    }

    /// Whether the call is one of LLVM's memory intrinsics, which have no other record.
    fn is_for_memory(&self) -> bool {
        let function = self.machine.functions.get(self.routine.id);
        function
            .and_then(|function| function.callee_name(self.index))
            .is_some_and(|name| name.starts_with("llvm.mem"))
    }

    /// The new value of a read-modify-write.
    fn updated(&self, size: u8, read: u64, operand: Operand) -> Option<u64> {
        let code = self.machine.numbers(self.routine, self.index).first()?;
        let update = Update::from_code(u32::try_from(*code).ok()?)?;
        Some(update.apply(read, self.known(operand)?, size.into()))
    }

    /// What was stored, in so many bytes.
    fn stored(&mut self, size: u8, known: Option<u64>, logged: u64) {
        let known = known.map(|known| word(size).fit(known));
        if compare(&mut self.found.stores, known, logged) {
            self.note_value(known, logged);
        }
    }

    /// Compares an address or a length. If it was unknown, it is known from here on.
    fn address(&mut self, operand: Operand, logged: u64) {
        let known = self.known(operand);
        if compare(&mut self.found.addresses, known, logged) {
            self.note_value(known, logged);
        }
        if known.is_none() {
            self.machine.learn(self.routine, self.frame, self.index, (operand, logged));
        }
    }

    fn note_value(&mut self, known: Option<u64>, logged: u64) {
        self.note(&format!("{logged:#x} is in the log, but {:#x} was computed", known.unwrap_or(0)));
    }
}

/// The type of a word of so many bytes.
fn word(size: u8) -> Scalar {
    Scalar::Int((8 * u32::from(size)).clamp(1, u64::BITS))
}

/// Counts; says whether there is a difference.
fn compare(tally: &mut Tally, known: Option<u64>, logged: u64) -> bool {
    let differs = known.is_some_and(|known| known != logged);
    tally.all += 1;
    tally.known += u64::from(known.is_some());
    tally.differ += u64::from(differs);
    differs
}
