//! `System.arraycopy`: elements are read, then written.

use std::sync::OnceLock;

use foretell_turns::turn::Turn;

use crate::access;
use crate::jni::{Id, Jni, Object};
use crate::types;

/// Where a copy begins.
type Begin = (Object, i32);

struct Original {
    class: Object,
    method: Id,
}

// SAFETY: it is a global reference, and ids are good on all threads.
unsafe impl Send for Original {}
// SAFETY: as above.
unsafe impl Sync for Original {}

static ORIGINAL: OnceLock<Option<Original>> = OnceLock::new();

/// Copies, or throws what the virtual machine throws.
pub(crate) fn make(jni: Jni, (from, start): Begin, (to, place): Begin, length: i32) {
    let find = || {
        let class = jni.class(c"java/lang/System");
        let signature = c"(Ljava/lang/Object;ILjava/lang/Object;II)V";
        let method = jni.static_method(class, c"arraycopy".as_ptr(), signature.as_ptr());
        (!method.is_null()).then(|| Original { class: jni.new_global(class), method })
    };
    if let Some(original) = ORIGINAL.get_or_init(find) {
        let number = |number: i32| u64::from(number.cast_unsigned());
        let arguments = [from as u64, number(start), to as u64, number(place), number(length)];
        jni.call_static(original.class, original.method, arguments.as_ptr());
    }
}

/// Tells the log of it, if it is going to work.
pub(crate) fn tell(
    jni: Jni,
    turn: &Turn,
    number: u32,
    (from, start): Begin,
    (to, place): Begin,
    length: i32,
) {
    let fits = |array, start: i32| {
        start >= 0 && start.checked_add(length).is_some_and(|end| end <= jni.array_length(array))
    };
    let is_array = |object| types::is_array(jni, object);
    if length < 0 || !is_array(from) || !is_array(to) || !fits(from, start) || !fits(to, place) {
        return;
    }
    // What is read first may be overwritten by what is written.
    let mut values = Vec::new();
    for index in 0..length {
        access::of_array(jni, turn, number, (from, start + index), None);
        values.push(access::element(jni, turn, from, start + index));
    }
    for (index, value) in (0..).zip(values) {
        access::of_array(jni, turn, number, (to, place + index), Some(value));
    }
}
