//! Functions of the C library whose calls the compiler pass has replaced, see [`foretell_wire::library`]: they are
//! performed here, and what they read and write of the program's memory is recorded.
//!
//! What is recorded as read is just what decides the result: a comparison looks no further than the first difference.
//! On each byte depends whether the next one is read ([`Record::Scan`]).
//!
//! Safety of all of them: the program would have called the function with the same arguments.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};
use std::sync::atomic::AtomicU64;

use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use crate::turn::{Turn, content};

type Text = *const c_char;

/// How often any thread has asked the clock.
pub(crate) static CLOCK: AtomicU64 = AtomicU64::new(0);

/// One call of such a function.
pub(crate) struct LibraryCall {
    turn: Turn,
    site: u64,
}

impl LibraryCall {
    /// None if nothing is recorded now.
    pub(crate) fn begin(site: u64) -> Option<LibraryCall> {
        let turn = Turn::take()?;
        turn.step();
        turn.me.site.set(site);
        // How far the function will look no thread knows before it does.
        turn.hold_memory();
        Some(LibraryCall { turn, site })
    }

    /// So many bytes were read, one after the other.
    pub(crate) fn scanned(&self, from: Text, bytes: usize) {
        let (site, addr) = (self.site, from as u64);
        let content = content(from.cast(), bytes);
        self.turn.log_range(content, |offset, bytes| Record::Scan { site, addr: addr + offset, bytes });
    }

    /// So many bytes were read in any case.
    fn read(&self, from: *const c_void, bytes: usize) {
        let (site, addr) = (self.site, from as u64);
        let content = content(from.cast(), bytes);
        self.turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: addr + offset, bytes });
    }

    /// So many bytes were written.
    pub(crate) fn wrote(&self, to: *const c_void, bytes: usize) {
        let (site, addr) = (self.site, to as u64);
        let content = content(to.cast(), bytes);
        self.turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: addr + offset, bytes });
    }

    /// The result says something about when the call was made.
    fn asked_the_clock(&self) {
        self.turn.in_order(&CLOCK, MemoryOrder::Relaxed);
    }
}

/// How many bytes a text has, with the zero at its end.
fn size(text: Text) -> usize {
    // SAFETY: the program passes a text that ends with a zero.
    unsafe { libc::strlen(text) + 1 }
}

/// How many bytes of two texts are looked at to compare them: up to the first that differs, or ends both.
fn compared(
    one: Text,
    other: Text,
    limit: usize,
    ends_at_zero: bool,
    same: impl Fn(u8, u8) -> bool,
) -> usize {
    // SAFETY: both texts reach at least to where they differ, or to their zeros.
    let at = |text: Text, index: usize| unsafe { text.cast::<u8>().add(index).read() };
    let is_last = |&index: &usize| {
        let (one, other) = (at(one, index), at(other, index));
        !same(one, other) || (ends_at_zero && one == 0)
    };
    (0..limit).find(is_last).map_or(limit, |last| last + 1)
}

fn fold(byte: u8) -> c_int {
    // SAFETY: the function takes every byte.
    unsafe { libc::tolower(byte.into()) }
}

fn same_letter(one: u8, other: u8) -> bool {
    fold(one) == fold(other)
}

fn same_byte(one: u8, other: u8) -> bool {
    one == other
}

fn tell_comparison(call: &LibraryCall, one: Text, other: Text, bytes: usize) {
    call.scanned(one, bytes);
    call.scanned(other, bytes);
}

/// How many bytes lie between the beginning of a text and a place in it.
fn distance(from: Text, to: Text) -> usize {
    (to as usize).saturating_sub(from as usize)
}

macro_rules! functions {
    ($($hook:ident = $function:path: ($($argument:ident: $type:ty),*) -> $result:ty, |$call:ident, $outcome:pat_param| $tell:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $hook(site: u64, $($argument: $type),*) -> $result {
            let call = LibraryCall::begin(site);
            // SAFETY: nothing is passed on but what the program has passed.
            let result = unsafe { $function($($argument),*) };
            if let Some($call) = &call {
                let $outcome = result;
                $tell;
            }
            result
        }
    )*};
}

functions! {
    __foretell_on_strlen = libc::strlen: (text: Text) -> usize, |call, length| call.scanned(text, length + 1);
    __foretell_on_strnlen = libc::strnlen: (text: Text, limit: usize) -> usize,
        |call, length| call.scanned(text, limit.min(length + 1));
    __foretell_on_strcmp = libc::strcmp: (one: Text, other: Text) -> c_int,
        |call, _| tell_comparison(call, one, other, compared(one, other, usize::MAX, true, same_byte));
    __foretell_on_strncmp = libc::strncmp: (one: Text, other: Text, limit: usize) -> c_int,
        |call, _| tell_comparison(call, one, other, compared(one, other, limit, true, same_byte));
    __foretell_on_strcasecmp = libc::strcasecmp: (one: Text, other: Text) -> c_int,
        |call, _| tell_comparison(call, one, other, compared(one, other, usize::MAX, true, same_letter));
    __foretell_on_strncasecmp = libc::strncasecmp: (one: Text, other: Text, limit: usize) -> c_int,
        |call, _| tell_comparison(call, one, other, compared(one, other, limit, true, same_letter));
    __foretell_on_memcmp = libc::memcmp: (one: *const c_void, other: *const c_void, bytes: usize) -> c_int,
        |call, _| tell_comparison(call, one.cast(), other.cast(), compared(one.cast(), other.cast(), bytes, false, same_byte));
    __foretell_on_bcmp = libc::memcmp: (one: *const c_void, other: *const c_void, bytes: usize) -> c_int,
        |call, _| tell_comparison(call, one.cast(), other.cast(), compared(one.cast(), other.cast(), bytes, false, same_byte));
    __foretell_on_memchr = libc::memchr: (from: *const c_void, byte: c_int, limit: usize) -> *mut c_void,
        |call, found| call.scanned(from.cast(), if found.is_null() { limit } else { distance(from.cast(), found.cast()) + 1 });
    __foretell_on_strchr = libc::strchr: (text: Text, byte: c_int) -> *mut c_char,
        |call, found| call.scanned(text, if found.is_null() { size(text) } else { distance(text, found) + 1 });
    __foretell_on_strrchr = libc::strrchr: (text: Text, byte: c_int) -> *mut c_char, |call, _| call.scanned(text, size(text));
    __foretell_on_strstr = libc::strstr: (text: Text, part: Text) -> *mut c_char, |call, found| {
        call.scanned(part, size(part));
        let whole = found.is_null();
        call.scanned(text, if whole { size(text) } else { distance(text, found) + size(part) - 1 });
    };
    __foretell_on_gettimeofday = libc::gettimeofday: (time: *mut libc::timeval, zone: *mut libc::timezone) -> c_int, |call, _| {
        call.asked_the_clock();
        call.wrote(time.cast(), size_of::<libc::timeval>());
    };
    __foretell_on_clock_gettime = libc::clock_gettime: (clock: c_int, time: *mut libc::timespec) -> c_int, |call, result| {
        call.asked_the_clock();
        call.wrote(time.cast(), if result == 0 { size_of::<libc::timespec>() } else { 0 });
    };
    __foretell_on_time = libc::time: (time: *mut i64) -> i64, |call, _| {
        call.asked_the_clock();
        call.wrote(time.cast(), if time.is_null() { 0 } else { size_of::<i64>() });
    };
    __foretell_on_localtime_r = libc::localtime_r: (time: *const i64, parts: *mut libc::tm) -> *mut libc::tm, |call, result| {
        call.read(time.cast(), size_of::<i64>());
        call.wrote(parts.cast(), if result.is_null() { 0 } else { size_of::<libc::tm>() });
    };
    __foretell_on_gmtime_r = libc::gmtime_r: (time: *const i64, parts: *mut libc::tm) -> *mut libc::tm, |call, result| {
        call.read(time.cast(), size_of::<i64>());
        call.wrote(parts.cast(), if result.is_null() { 0 } else { size_of::<libc::tm>() });
    };
}

/// What is read is recorded before the call: it may be overwritten by it.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_on_strcpy(site: u64, to: *mut c_char, from: Text) -> *mut c_char {
    let (call, bytes) = (LibraryCall::begin(site), size(from));
    if let Some(call) = &call {
        call.scanned(from, bytes);
    }
    // SAFETY: the program has passed room for the text.
    unsafe { libc::strcpy(to, from) };
    if let Some(call) = &call {
        call.wrote(to.cast(), bytes);
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_on_strncpy(
    site: u64,
    to: *mut c_char,
    from: Text,
    limit: usize,
) -> *mut c_char {
    let call = LibraryCall::begin(site);
    if let Some(call) = &call {
        // SAFETY: the program passes a text that ends with a zero, or has so many bytes.
        call.scanned(from, limit.min(unsafe { libc::strnlen(from, limit) } + 1));
    }
    // SAFETY: the program has passed room for so many bytes.
    unsafe { libc::strncpy(to, from, limit) };
    if let Some(call) = &call {
        call.wrote(to.cast(), limit);
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_on_strcat(site: u64, to: *mut c_char, from: Text) -> *mut c_char {
    let (call, end, bytes) = (LibraryCall::begin(site), size(to) - 1, size(from));
    if let Some(call) = &call {
        call.scanned(to, end + 1);
        call.scanned(from, bytes);
    }
    // SAFETY: the program has passed room for both texts.
    unsafe { libc::strcat(to, from) };
    if let Some(call) = &call {
        // SAFETY: the text that is there has so many bytes before its zero.
        call.wrote(unsafe { to.add(end) }.cast(), bytes);
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_on_strdup(site: u64, text: Text) -> *mut c_char {
    let (call, bytes) = (LibraryCall::begin(site), size(text));
    // SAFETY: the program passes a text that ends with a zero.
    let Some(call) = call else { return unsafe { libc::strdup(text) } };
    call.scanned(text, bytes);
    drop(call);
    // Its memory comes from the allocator of the program.
    // SAFETY: the program passes a text that ends with a zero.
    let copy = unsafe { libc::strdup(text) };
    if !copy.is_null()
        && let Some(call) = LibraryCall::begin(site)
    {
        call.wrote(copy.cast(), bytes);
    }
    copy
}

macro_rules! numbers {
    ($($hook:ident = $function:path: $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $hook(site: u64, text: Text, end: *mut *mut c_char, base: c_int) -> $result {
            let (call, mut after) = (LibraryCall::begin(site), text.cast_mut());
            // SAFETY: the program passes a text that ends with a zero, and the place is ours.
            let number = unsafe { $function(text, &mut after, base) };
            if let Some(call) = &call {
                tell_number(call, text, after);
            }
            if !end.is_null() {
                // SAFETY: the copy has room for the text with its zero.
                unsafe { end.write(after) };
                if let Some(call) = &call {
                    call.wrote(end.cast(), size_of::<Text>());
                }
            }
            number
        }
    )*};
}

numbers! {
    __foretell_on_strtol = libc::strtol: c_long;
    __foretell_on_strtoll = libc::strtoll: i64;
    __foretell_on_strtoul = libc::strtoul: c_ulong;
    __foretell_on_strtoull = libc::strtoull: u64;
}

/// A number was read, and the byte after it. Where none was found, or a zero is followed by an `x`, more was looked
/// at than can be recorded.
fn tell_number(call: &LibraryCall, text: Text, after: *mut c_char) {
    // SAFETY: the text ends with a zero, which is not passed here.
    let next = unsafe { after.cast::<u8>().read() };
    if after.cast_const() == text || matches!(next, b'x' | b'X' | b'b' | b'B') {
        call.turn.release_memory();
        call.turn.fence(call.site);
    } else {
        call.scanned(text, distance(text, after) + 1);
    }
}
