//! Where a thread may have decided what it does next, by what it has read, before any hook tells of it: at jumps, and
//! at whatever may throw an exception.

use std::collections::BTreeSet;

use foretell_classfile::Error;
use foretell_classfile::code::Code;
use foretell_classfile::descriptor::{class_of, is_reference, method};
use foretell_classfile::opcode::{self, MONITORENTER, MONITOREXIT};
use foretell_classfile::pool::Pool;
use rustc_hash::FxHashSet;

use crate::jdk::{self, Effect};
use crate::sites::Member;

/// What is known of the fields that a class declares.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// The class.
    pub(crate) class: &'a [u8],
    /// Names of fields of its objects that never change.
    pub(crate) finals: &'a FxHashSet<Box<[u8]>>,
    /// Names of its own fields that never change.
    pub(crate) constants: &'a FxHashSet<Box<[u8]>>,
}

impl Fields<'_> {
    /// Whether a static field is one of the class itself that never changes once that is initialised.
    pub(crate) fn is_constant(self, member: &Member) -> bool {
        *member.owner == *self.class && self.constants.contains(&member.name)
    }

    /// Whether a field is one of the class itself that never changes once its objects are made.
    pub(crate) fn is_skipped(self, member: &Member) -> bool {
        *member.owner == *self.class && self.finals.contains(&member.name)
    }
}

/// Before which instructions the thread may have made a decision that no hook has told: a jump, or whatever may
/// throw an exception because of what was read.
pub(crate) fn flow(whole: &Code, pool: &Pool, fields: Fields<'_>) -> Result<Vec<bool>, Error> {
    let (code, places) = (&whole.bytes, whole.instructions()?);
    let mut decided = vec![false; code.len()];
    whole.handlers.iter().for_each(|handler| decided[usize::from(handler.at)] = true);
    loop {
        let mut is_stable = true;
        for (index, &at) in places.iter().enumerate() {
            let opcode = code[at];
            let after = match effect(whole, pool, fields, at) {
                Some(known) => known,
                None => decided[at],
            };
            let next = places.get(index + 1).copied().filter(|_| !opcode::ends_flow(opcode));
            for target in opcode::targets(code, at)?.into_iter().chain(next) {
                let place = decided.get_mut(target).ok_or(Error::Malformed)?;
                is_stable &= *place || !after;
                *place |= after;
            }
        }
        if is_stable {
            return Ok(decided);
        }
    }
}

/// Whether there is a decision to tell after an instruction; none if that is as it was before.
fn effect(code: &Code, pool: &Pool, fields: Fields<'_>, at: usize) -> Option<bool> {
    let opcode = *code.bytes.get(at)?;
    match opcode {
        opcode::IALOAD..=opcode::SALOAD | opcode::IASTORE..=opcode::SASTORE => Some(false),
        MONITORENTER | MONITOREXIT => Some(false),
        opcode::GETFIELD | opcode::PUTFIELD | opcode::GETSTATIC | opcode::PUTSTATIC => {
            let member = reference(code, pool, at)?;
            // Where there is no hook, to look at an object is a decision still.
            let is_static = matches!(opcode, opcode::GETSTATIC | opcode::PUTSTATIC);
            let has_no_hook = jdk::is_of_jdk(&member.owner) || (!is_static && fields.is_skipped(&member));
            if !has_no_hook {
                Some(false)
            } else if matches!(opcode, opcode::GETFIELD | opcode::PUTFIELD) {
                Some(true)
            } else {
                None
            }
        }
        opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
            let member = reference(code, pool, at)?;
            if is_unhooked(&member) {
                if jdk::never_throws(&member.owner, &member.name) { None } else { Some(true) }
            } else {
                Some(false)
            }
        }
        _ if opcode::is_short_jump(opcode) && opcode != opcode::GOTO && opcode != opcode::JSR => Some(true),
        opcode::TABLESWITCH | opcode::LOOKUPSWITCH => Some(true),
        // Divisions, casts, new arrays and their lengths.
        0x6c | 0x6d | 0x70 | 0x71 | 0xbc..=0xbe | 0xc0 | 0xc5 => Some(true),
        _ => None,
    }
}

/// The field or method that an instruction names.
pub(crate) fn reference(code: &Code, pool: &Pool, at: usize) -> Option<Member> {
    let index = code.bytes.get(at + 1..)?.first_chunk().map(|&two| u16::from_be_bytes(two))?;
    let named = pool.reference(index)?;
    Some(Member { owner: named.class.into(), name: named.name.into(), descriptor: named.descriptor.into() })
}

/// Whether what a dynamic call leads to may call methods of objects that it is passed: it puts together a text, or
/// does for a record what all objects can.
pub(crate) fn asks_objects(name: &[u8], descriptor: &[u8]) -> bool {
    let is_value = |parameter: &&[u8]| {
        !is_reference(parameter) || jdk::effect(class_of(parameter), b"toString", b"") == Effect::Nothing
    };
    let is_known = || method(descriptor).is_ok_and(|(parameters, _)| parameters.iter().all(is_value));
    match name {
        b"makeConcatWithConstants" | b"makeConcat" => !is_known(),
        b"toString" | b"equals" | b"hashCode" => true,
        _ => false,
    }
}

/// Whether a call needs no hook, as nothing comes of it that others may notice.
pub(crate) fn is_unhooked(member: &Member) -> bool {
    jdk::is_of_jdk(&member.owner)
        && !matches!(&*member.name, b"notify" | b"notifyAll" | b"join" | b"arraycopy")
        && jdk::effect(&member.owner, &member.name, &member.descriptor) == Effect::Nothing
}

/// Where jumps and switches lead.
pub(crate) fn targets(code: &Code) -> Result<BTreeSet<usize>, Error> {
    let mut found = BTreeSet::new();
    for at in code.instructions()? {
        found.extend(opcode::targets(&code.bytes, at)?);
    }
    Ok(found)
}
