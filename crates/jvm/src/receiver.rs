//! Which objects instructions are about: those of `this` were known before the method began, those of constants always,
//! and nothing that was read since decides which they are.

use foretell_classfile::code::Code;
use foretell_classfile::descriptor::{method, places};
use foretell_classfile::opcode::{self, ALOAD, ALOAD_0, DUP};
use foretell_classfile::pool::Pool;

use crate::decisions::{Fields, reference};

/// What an instruction takes from the stack and puts there, in places; none if that is not known here.
fn effect(code: &Code, pool: &Pool, at: usize) -> Option<(u16, u16)> {
    let opcode = *code.bytes.get(at)?;
    Some(match opcode {
        // Nothing, or counting in a local variable.
        0x00 | opcode::IINC => (0, 0),
        // Constants and local variables.
        0x01..=0x08 | 0x0b..=0x0d | 0x10..=0x13 | 0x15 | 0x17 | ALOAD => (0, 1),
        0x1a..=0x1d | 0x22..=0x25 | ALOAD_0..=0x2d => (0, 1),
        0x09 | 0x0a | 0x0e | 0x0f | 0x14 | 0x16 | 0x18 | 0x1e..=0x21 | 0x26..=0x29 => (0, 2),
        // Elements.
        opcode::LALOAD | opcode::DALOAD => (2, 2),
        opcode::IALOAD..=opcode::SALOAD => (2, 1),
        // Local variables and the stack.
        0x36 | 0x38 | 0x3a | 0x3b..=0x3e | 0x43..=0x46 | 0x4b..=0x4e | opcode::POP => (1, 0),
        0x37 | 0x39 | 0x3f..=0x42 | 0x47..=0x4a | opcode::POP2 => (2, 0),
        // Arithmetic, in the order `int`, `long`, `float`, `double`; then negation, shifts and logic.
        0x60..=0x73 if opcode % 2 == 0 => (2, 1),
        0x60..=0x73 => (4, 2),
        0x74 | 0x76 => (1, 1),
        0x75 | 0x77 => (2, 2),
        0x78 | 0x7a | 0x7c | 0x7e | 0x80 | 0x82 => (2, 1),
        0x79 | 0x7b | 0x7d => (3, 2),
        0x7f | 0x81 | 0x83 => (4, 2),
        // Conversions and comparisons.
        0x85 | 0x87 | 0x8c | 0x8d => (1, 2),
        0x86 | 0x8b | 0x91..=0x93 => (1, 1),
        0x88 | 0x89 | 0x8e | 0x90 => (2, 1),
        0x8a | 0x8f => (2, 2),
        0x94 | 0x97 | 0x98 => (4, 1),
        0x95 | 0x96 => (2, 1),
        opcode::GETSTATIC => (0, places(&reference(code, pool, at)?.descriptor)),
        opcode::PUTSTATIC => (places(&reference(code, pool, at)?.descriptor), 0),
        opcode::GETFIELD => (1, places(&reference(code, pool, at)?.descriptor)),
        opcode::PUTFIELD => (1 + places(&reference(code, pool, at)?.descriptor), 0),
        opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
            let called = reference(code, pool, at)?;
            let (parameters, result) = method(&called.descriptor).ok()?;
            let object = u16::from(opcode != opcode::INVOKESTATIC);
            (object + parameters.iter().map(|one| places(one)).sum::<u16>(), places(result))
        }
        opcode::NEW => (0, 1),
        // New arrays, their lengths, casts.
        0xbc..=0xbe | 0xc0 | 0xc1 => (1, 1),
        _ => return None,
    })
}

/// Whether what lies so many places below the top of the stack before an instruction is `this`, or what a static field
/// of the class holds that never changes once the class is initialised. The instructions before
/// it are given by their places, from where all paths come together on.
pub(crate) fn is_known(
    code: &Code,
    pool: &Pool,
    (fields, keeps_this): (Fields<'_>, bool),
    before: &[usize],
    below: u16,
) -> bool {
    let mut below = below;
    for &at in before.iter().rev() {
        let opcode = code.bytes.get(at).copied().unwrap_or_default();
        if opcode == DUP {
            below = below.saturating_sub(1);
            continue;
        }
        let Some((takes, puts)) = effect(code, pool, at) else { return false };
        if below < puts {
            return opcode == ALOAD_0 && keeps_this
                || opcode == opcode::GETSTATIC
                    && reference(code, pool, at).is_some_and(|member| fields.is_constant(&member));
        }
        below = below - puts + takes;
    }
    false
}

/// How far below the top of the stack the object of an instruction lies: of a field, an element's array is none.
pub(crate) fn place_of_object(code: &Code, pool: &Pool, at: usize) -> Option<u16> {
    match *code.bytes.get(at)? {
        opcode::GETFIELD | opcode::MONITORENTER => Some(0),
        opcode::PUTFIELD => Some(places(&reference(code, pool, at)?.descriptor)),
        opcode::INVOKEVIRTUAL | opcode::INVOKESPECIAL | opcode::INVOKEINTERFACE => {
            let called = reference(code, pool, at)?;
            let (parameters, _) = method(&called.descriptor).ok()?;
            Some(parameters.iter().map(|one| places(one)).sum())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use foretell_classfile::pool::Reference;
    use rustc_hash::FxHashSet;

    use super::*;

    #[test]
    fn this_is_found_below_what_was_computed_since() {
        let mut pool = Pool::default();
        let field = pool.add_field(Reference { class: b"A", name: b"total", descriptor: b"J" });
        let [high, low] = field.expect("it is small").to_be_bytes();
        // `this.total = this.total + 1`, and the same of another object.
        let of = |load: u8| {
            let bytes = vec![load, DUP, opcode::GETFIELD, high, low, 0x0a, 0x61, opcode::PUTFIELD, high, low];
            Code { bytes, ..Code::default() }
        };
        let (mine, other) = (of(ALOAD_0), of(ALOAD_0 + 1));
        let finals = FxHashSet::default();
        let fields = Fields { class: b"A", finals: &finals, constants: &finals };
        let is_this =
            |code: &Code, before: &[usize], below| is_known(code, &pool, (fields, true), before, below);
        assert_eq!(place_of_object(&mine, &pool, 7), Some(2));
        assert!(is_this(&mine, &[0, 1, 2, 5, 6], 2) && is_this(&mine, &[0, 1], 0));
        assert!(!is_this(&other, &[0, 1, 2, 5, 6], 2));
        assert!(!is_this(&mine, &[5, 6], 2), "it was pushed before all paths came together");
    }

    #[test]
    fn a_constant_of_the_class_is_known() {
        let mut pool = Pool::default();
        let field = pool.add_field(Reference { class: b"A", name: b"LOCK", descriptor: b"LLock;" });
        let [high, low] = field.expect("it is small").to_be_bytes();
        let code = Code { bytes: vec![opcode::GETSTATIC, high, low], ..Code::default() };
        let (none, some) = (FxHashSet::default(), FxHashSet::from_iter([Box::from(&b"LOCK"[..])]));
        let is_constant = |class, constants| {
            is_known(&code, &pool, (Fields { class, finals: &none, constants }, false), &[0], 0)
        };
        assert!(is_constant(b"A", &some) && !is_constant(b"A", &none) && !is_constant(b"B", &some));
    }
}
