//! Which object is which. Each gets an address of its own when it is first met, as large as the object, that no other
//! object gets later; the virtual machine keeps it as a tag.

use std::sync::atomic::{AtomicU64, Ordering};

use foretell_turns::turn::Turn;
use foretell_wire::record::{Record, SyncOp};

use crate::agent::tool;
use crate::jni::{Jni, Object};
use crate::sites;
use crate::types::{self, Elements, Type};

/// The first address of an object. What is below belongs to the recorder.
pub(crate) const FIRST: u64 = 1 << 32;
/// The next address. Sites are above all of them.
static NEXT: AtomicU64 = AtomicU64::new(FIRST);
/// Objects begin at multiples of this.
const ALIGNMENT: u64 = 16;

/// So many bytes of the log's memory that belong to nothing else.
pub(crate) fn take(bytes: u64) -> u64 {
    NEXT.fetch_add(bytes.next_multiple_of(ALIGNMENT), Ordering::Relaxed)
}

/// A part of the tag of a class of which only its objects were met,
const UNTOLD: u64 = 1;
/// and where in the tag of an array the number of its type is.
const ARRAY: u32 = 1;
/// What is no address in a tag.
const ABOUT: u64 = ALIGNMENT - 1;

/// The address of an object, 0 for none.
#[inline]
pub(crate) fn address(jni: Jni, turn: &Turn, object: Object) -> u64 {
    if object.is_null() {
        return 0;
    }
    met(jni, turn, object) & !ABOUT
}

/// The tag of an object, which is met now if it was not before.
#[inline]
fn met(jni: Jni, turn: &Turn, object: Object) -> u64 {
    match tool().tag_of(object) {
        0 => new(jni, turn, object),
        untold if untold & UNTOLD != 0 => meet_class(jni, turn, object, untold & !ABOUT),
        known => known,
    }
}

/// The address of an array, and its elements; no elements if it is none.
#[inline]
pub(crate) fn array(jni: Jni, turn: &Turn, array: Object) -> (u64, Option<Elements>) {
    let tag = met(jni, turn, array);
    (tag & !ABOUT, types::elements((tag & ABOUT) >> ARRAY))
}

/// The address of an object if it was met before.
pub(crate) fn known(object: Object) -> Option<u64> {
    (!object.is_null()).then(|| tool().tag_of(object) & !ABOUT).filter(|&tag| tag != 0)
}

#[cold]
fn new(jni: Jni, turn: &Turn, object: Object) -> u64 {
    let class = jni.class_of(object);
    let is_class = tool().class_name(class) == b"java/lang/Class";
    let address = take(size(object));
    if is_class {
        jni.delete_local(class);
        return meet_class(jni, turn, object, address);
    }
    let of = types::of(jni, turn, class, class_key(class), false);
    jni.delete_local(class);
    let tag = address | of.map_or(0, |of| of.array << ARRAY);
    tool().set_tag(object, tag.cast_signed());
    if let Some(of) = of {
        tell(turn, address, object, of);
    }
    tag
}

/// The object that has the static fields of a class, which are what matters of it.
#[cold]
fn meet_class(jni: Jni, turn: &Turn, class: Object, address: u64) -> u64 {
    tool().set_tag(class, address.cast_signed());
    if let Some(of) = types::of(jni, turn, class, address, true) {
        tell(turn, address, class, of);
    }
    address
}

fn size(object: Object) -> u64 {
    let mut bytes = 0;
    tool().object_size(object, &mut bytes);
    u64::try_from(bytes).unwrap_or(0).max(ALIGNMENT)
}

fn tell(turn: &Turn, address: u64, object: Object, of: Type) {
    let record = Record::Sync {
        site: sites::address(of.site),
        op: SyncOp::Object,
        object: address,
        other: size(object),
    };
    turn.me.log().put(&record);
}

/// A number for a class: its address, though the log may never meet it.
pub(crate) fn class_key(class: Object) -> u64 {
    match tool().tag_of(class) {
        0 => {
            let address = take(size(class));
            tool().set_tag(class, (address | UNTOLD).cast_signed());
            address
        }
        known => known & !ABOUT,
    }
}
