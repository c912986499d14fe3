//! Accesses to fields and elements. A hook comes right before its access: it lets others go first, and as long as it
//! is the thread's turn nothing comes in between.

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use crate::initialise;
use crate::jni::{Jni, Object};
use crate::objects;
use crate::sites::{self, Site, What};
use crate::types::{self, Elements, Field, field};

/// Where an access goes, and how.
#[derive(Clone, Copy)]
struct Access {
    site: u64,
    address: u64,
    kind: u8,
    is_volatile: bool,
}

/// What an access reads, or writes.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    /// A number, by its bits.
    Number(u64),
    /// An object.
    Object(Object),
}

impl Value {
    fn bits(self, jni: Jni, turn: &Turn, kind: u8) -> u64 {
        match self {
            Value::Number(bits) => bits & mask(kind),
            Value::Object(object) => types::reference(objects::address(jni, turn, object)),
        }
    }
}

/// The bits that a value of this kind has.
fn mask(kind: u8) -> u64 {
    u64::MAX >> (64 - (8 << types::size(kind)))
}

/// Tells the log of the access once it is this thread's turn, with what is there by then and what is written.
///
/// A volatile write is told as an update. Java orders it before every later read, be there other writes in between; the
/// languages that the log was made for do so only if these are updates.
fn record(turn: &Turn, access: Access, written: Option<u64>, held: impl FnOnce() -> u64) {
    let Access { site, address, kind, is_volatile } = access;
    let log_size = types::size(kind);
    let size = 1_u8 << log_size;
    turn.me.site.set(site);
    let place = usize::try_from(address).unwrap_or(usize::MAX);
    turn.access(place, size.into(), || {
        let addr = address;
        match (is_volatile, written) {
            (false, _) => {
                let value = written.unwrap_or_else(held);
                turn.tell_calls();
                turn.me.log().access(written.is_some(), log_size, site, addr, value);
            }
            (true, None) => {
                let (value, order) = (held(), MemoryOrder::SeqCst);
                turn.log(&Record::AtomicLoad { site, addr, size, value, order });
            }
            (true, Some(written)) => {
                let (read, order) = (held(), MemoryOrder::Release);
                turn.log(&Record::Rmw { site, addr, size, read, written, order });
            }
        }
    });
}

/// The field that a site is about, for an object or a class that was named there; none if nothing is to be recorded.
#[inline]
fn resolve(
    jni: Jni,
    turn: &Turn,
    site: &'static Site,
    of: Object,
    is_static: bool,
) -> Option<&'static Field> {
    *site.field.get_or_init(|| {
        let What::Field(member) = &site.what else { return None };
        let class = if is_static { of } else { types::ancestor(jni, jni.class_of(of), &member.owner)? };
        field(jni, turn, class, (&member.name, &member.descriptor), is_static)
    })
}

/// What a field of an object holds.
fn field_value(jni: Jni, object: Object, field: &Field) -> Value {
    Value::Number(match field.kind {
        b'Z' => jni.get_boolean(object, field.id).into(),
        b'B' => jni.get_byte(object, field.id).into(),
        b'C' => jni.get_char(object, field.id).into(),
        b'S' => jni.get_short(object, field.id).into(),
        b'I' => jni.get_int(object, field.id).into(),
        b'J' => jni.get_long(object, field.id),
        b'F' => jni.get_float(object, field.id).to_bits().into(),
        b'D' => jni.get_double(object, field.id).to_bits(),
        _ => return Value::Object(jni.get_object(object, field.id)),
    })
}

/// What a static field holds.
fn static_value(jni: Jni, class: Object, field: &Field) -> Value {
    Value::Number(match field.kind {
        b'Z' => jni.get_static_boolean(class, field.id).into(),
        b'B' => jni.get_static_byte(class, field.id).into(),
        b'C' => jni.get_static_char(class, field.id).into(),
        b'S' => jni.get_static_short(class, field.id).into(),
        b'I' => jni.get_static_int(class, field.id).into(),
        b'J' => jni.get_static_long(class, field.id),
        b'F' => jni.get_static_float(class, field.id).to_bits().into(),
        b'D' => jni.get_static_double(class, field.id).to_bits(),
        _ => return Value::Object(jni.get_static_object(class, field.id)),
    })
}

/// A field of an object is read, or written if there is a value.
pub(crate) fn of_object(
    jni: Jni,
    turn: &Turn,
    number: u32,
    site: &'static Site,
    object: Object,
    new: Option<Value>,
) {
    let Some(field) = resolve(jni, turn, site, object, false) else { return };
    let address = objects::address(jni, turn, object) + field.offset;
    let access =
        Access { site: sites::address(number), address, kind: field.kind, is_volatile: field.is_volatile };
    let bits = new.map(|value| value.bits(jni, turn, field.kind));
    record(turn, access, bits, || field_value(jni, object, field).bits(jni, turn, field.kind));
}

/// A static field is read, or written if there is a value.
pub(crate) fn of_class(
    jni: Jni,
    turn: &Turn,
    number: u32,
    site: &'static Site,
    class: Object,
    new: Option<Value>,
) {
    turn.me.site.set(sites::address(number));
    let field = resolve(jni, turn, site, class, true);
    if let What::Field(member) = &site.what {
        let owner = field.map_or(&member.owner, |field| &field.owner);
        initialise::used_at(turn, number, [&member.owner, owner]);
    }
    let Some(field) = field else { return };
    let access = Access {
        site: sites::address(number),
        address: field.offset,
        kind: field.kind,
        is_volatile: field.is_volatile,
    };
    let bits = new.map(|value| value.bits(jni, turn, field.kind));
    record(turn, access, bits, || static_value(jni, class, field).bits(jni, turn, field.kind));
}

/// What an element of an array holds.
fn element_value(jni: Jni, array: Object, index: i32, bytes: u64) -> u64 {
    let (mut byte, mut short, mut int, mut long) = (0, 0, 0, 0);
    match bytes {
        1 => jni.get_bytes(array, index, 1, &mut byte),
        2 => jni.get_chars(array, index, 1, &mut short),
        4 => jni.get_ints(array, index, 1, &mut int),
        _ => jni.get_longs(array, index, 1, &mut long),
    }
    u64::from(byte) | u64::from(short) | u64::from(int) | long
}

/// An element of an array is read, or written if there is a value. Indices out of bounds are left to the program.
pub(crate) fn of_array(
    jni: Jni,
    turn: &Turn,
    number: u32,
    (array, index): (Object, i32),
    new: Option<Value>,
) {
    let Some(place) = u64::try_from(index).ok().filter(|_| index < jni.array_length(array)) else { return };
    let (base, Some(elements)) = objects::array(jni, turn, array) else { return };
    let Elements { kind, begin, size } = elements;
    let address = base + begin + place * size;
    let access = Access { site: sites::address(number), address, kind, is_volatile: false };
    let bits = new.map(|value| value.bits(jni, turn, kind));
    record(turn, access, bits, || {
        if kind == b'L' {
            Value::Object(jni.get_element(array, index)).bits(jni, turn, kind)
        } else {
            element_value(jni, array, index, size)
        }
    });
}

/// What an element of an array holds, to be written elsewhere.
pub(crate) fn element(jni: Jni, turn: &Turn, array: Object, index: i32) -> Value {
    match objects::array(jni, turn, array).1 {
        Some(Elements { kind: b'L', .. }) => Value::Object(jni.get_element(array, index)),
        Some(elements) => Value::Number(element_value(jni, array, index, elements.size)),
        None => Value::Number(0),
    }
}

/// Before a static field is accessed its class is initialised, which may run code of the program.
pub(crate) fn prepare(jni: Jni, class: Object, site: i32) {
    let Some(site) = sites::get(site).filter(|site| site.field.get().is_none()) else { return };
    if let What::Field(member) = &site.what {
        types::initialise(jni, class, &member.name, &member.descriptor);
    }
}
