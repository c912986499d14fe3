//! Calls of functions that have a model: the compiler pass puts these hooks around such a call, and they record what
//! the call accesses.
//!
//! In serial mode no other thread runs between the hooks of a call, so it is enough to record reads before and writes
//! after it. If the function blocks, the scheduler overtakes the thread, and a fence follows. In parallel mode the call
//! is a fence: other threads could access the same memory meanwhile.
//!
//! If the program itself has an instrumented function of that name, the model does not apply: that function records
//! what it does.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_wire::format::{self, Use};
use foretell_wire::hook::{HookCondition, MemoryOrder};
use foretell_wire::record::Record;

use crate::functions;
use crate::hooks;
use crate::interpose::blocking::world;
use crate::interpose::console;
use crate::library::CLOCK;
use crate::mode;
use crate::openmp;
use crate::thread::{AsNative, me};
use crate::turn::{Turn, content};

type Any = *const c_void;

/// Begins a call, of which something will be recorded or not; returns which calls the thread was in before.
#[unsafe(no_mangle)]
extern "C" fn __foretell_model_begin(site: u64, callee: u64, condition: u64, word: Any, records: u64) -> u64 {
    let Some(me) = me() else { return 0 };
    me.native()
        .is_modelled
        .set(!mode::is_parallel() && !functions::is_instrumented(callee) && holds(condition, word));
    if !me.native().is_modelled.get() {
        return hooks::__foretell_leave(site, callee);
    }
    let Some(turn) = Turn::take() else { return 0 };
    if records == 0 {
        turn.pass();
    } else {
        turn.step();
    }
    // Another thread may have gone first, and have changed the word.
    if !holds(condition, word) {
        me.native().is_modelled.set(false);
        drop(turn);
        return hooks::__foretell_leave(site, callee);
    }
    me.site.set(site);
    me.native().allocates.set(false);
    if condition == HookCondition::Zero as u64 {
        read(&turn, site, word.cast(), size_of::<u64>());
    }
    let calls = me.stack.calls();
    go_on(turn);
    calls.into()
}

/// Whether the model holds.
fn holds(condition: u64, word: Any) -> bool {
    if condition == HookCondition::Console as u64 {
        return is_console(word);
    }
    if condition == HookCondition::OpenMp as u64 {
        return openmp::tells();
    }
    // SAFETY: the function reads the word, too.
    condition != HookCondition::Zero as u64 || unsafe { word.cast::<u64>().read() } == 0
}

/// The streams of the C++ library that only the console is behind, as far as they were looked for.
static CONSOLE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

fn is_console(stream: Any) -> bool {
    const NAMES: [&CStr; 3] = [c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"];
    NAMES.into_iter().zip(&CONSOLE).any(|(name, known)| {
        if known.load(Ordering::Relaxed) == 0 {
            // SAFETY: the name ends with a zero.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            known.store(if found.is_null() { u64::MAX } else { found as u64 }, Ordering::Relaxed);
        }
        known.load(Ordering::Relaxed) == stream as u64
    })
}

/// Back to the call. In a replay it is one access, whatever it records; so the thread has not acted yet.
fn go_on(turn: Turn) {
    let me = turn.me;
    std::mem::forget(turn);
    me.leave();
}

/// Records an effect of a call whose model applies. No other thread comes in between.
fn record(act: impl FnOnce(&Turn)) {
    if let Some(turn) = me().filter(|me| me.native().is_modelled.get()).and_then(|_| Turn::take()) {
        act(&turn);
        go_on(turn);
    }
}

/// The call has returned, and all its effects are recorded.
#[unsafe(no_mangle)]
extern "C" fn __foretell_model_end() {
    if let Some(turn) = me().filter(|me| me.native().is_modelled.take()).and_then(|_| Turn::take())
        && turn.me.native().meets.take()
    {
        turn.meeting();
    }
}

/// The memory that an effect is about: `at` or what it points to, and an offset.
fn place(at: Any, indirect: u64, offset: u64) -> Option<*const u8> {
    // SAFETY: the program has passed a pointer to a pointer, which the function reads, too.
    let at = if indirect == 1 && !at.is_null() { unsafe { at.cast::<Any>().read() } } else { at };
    // SAFETY: the function accesses memory at this offset.
    (!at.is_null()).then(|| unsafe { at.cast::<u8>().add(usize::try_from(offset).unwrap_or(0)) })
}

/// How many bytes a text has with its zero, but at most so many.
fn size_of_text(text: *const u8, limit: usize) -> usize {
    // SAFETY: the function reads the text up to its zero or up to the limit.
    limit.min(unsafe { libc::strnlen(text.cast(), limit) }.saturating_add(1))
}

fn limit(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(0)
}

fn scanned(turn: &Turn, site: u64, from: *const u8, bytes: usize) {
    let content = content(from.cast(), bytes);
    turn.log_range(content, |offset, bytes| Record::Scan { site, addr: from as u64 + offset, bytes });
}

fn read(turn: &Turn, site: u64, from: *const u8, bytes: usize) {
    let content = content(from.cast(), bytes);
    turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: from as u64 + offset, bytes });
    // What the function does and returns may depend on it.
    turn.log_branch(site, None);
}

fn wrote(turn: &Turn, site: u64, to: *const u8, bytes: usize) {
    let content = content(to.cast(), bytes);
    turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: to as u64 + offset, bytes });
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_read(site: u64, at: Any, indirect: u64, offset: u64, bytes: u64) {
    if let Some(from) = place(at, indirect, offset) {
        record(|turn| read(turn, site, from, limit(bytes)));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_read_text(site: u64, at: Any, indirect: u64, offset: u64, most: u64) {
    if let Some(from) = place(at, indirect, offset) {
        record(|turn| scanned(turn, site, from, size_of_text(from, limit(most))));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_write(site: u64, at: Any, indirect: u64, offset: u64, bytes: u64) {
    if let Some(to) = place(at, indirect, offset) {
        record(|turn| wrote(turn, site, to, limit(bytes)));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_write_text(site: u64, at: Any, indirect: u64, offset: u64, most: u64) {
    if let Some(to) = place(at, indirect, offset) {
        record(|turn| wrote(turn, site, to, size_of_text(to, limit(most))));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_io(_site: u64, stream: Any) {
    if !console::is_stream(stream) {
        record(world);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_clock(_site: u64) {
    record(|turn| turn.in_order(&CLOCK, MemoryOrder::Relaxed));
}

/// The arguments of a call with a format.
enum Arguments {
    /// Numbers that the compiler pass has put there.
    Array(*const u64, u64),
    /// A `va_list`, and where the next arguments of each kind are.
    #[cfg(target_arch = "x86_64")]
    List(VaList),
}

/// The beginning of a `va_list` on x86-64.
#[cfg(target_arch = "x86_64")]
#[repr(C)]
#[derive(Clone, Copy)]
struct VaList {
    integers: u32,
    floats: u32,
    overflow: *const u8,
    registers: *const u8,
}

/// How many bytes of registers with integers, and with floats after them, a `va_list` has.
const INTEGERS: u32 = 48;
const FLOATS: u32 = 176;

impl Arguments {
    /// None if the arguments cannot be read here.
    fn new(arguments: *const u64, count: u64) -> Option<Arguments> {
        if count != u64::MAX {
            return Some(Arguments::Array(arguments, count));
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the program passes a `va_list`; it is copied, as `va_copy` does.
        return Some(Arguments::List(unsafe { arguments.cast::<VaList>().read() }));
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    fn next(&mut self, used: Use) -> u64 {
        match self {
            Arguments::Array(at, count) => {
                if *count == 0 {
                    return 0;
                }
                // SAFETY: there is another number.
                let (value, next) = unsafe { (at.read(), at.add(1)) };
                (*at, *count) = (next, *count - 1);
                value
            }
            #[cfg(target_arch = "x86_64")]
            Arguments::List(list) => list.next(used),
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl VaList {
    fn next(&mut self, used: Use) -> u64 {
        let (place, end) = match used {
            Use::Float => (&mut self.floats, FLOATS),
            Use::LongDouble => {
                let aligned = self.overflow.align_offset(16);
                self.overflow = self.overflow.wrapping_add(aligned + 16);
                return 0;
            }
            _ => (&mut self.integers, INTEGERS),
        };
        let step = if used == Use::Float { 16 } else { 8 };
        let at = if *place < end {
            let at = self.registers.wrapping_add(*place as usize);
            *place += step;
            at
        } else {
            let at = self.overflow;
            self.overflow = at.wrapping_add(8);
            at
        };
        // SAFETY: the function will read the same argument.
        unsafe { at.cast::<u64>().read_unaligned() }
    }
}

/// The format, if it is one.
fn bytes_of<'a>(format: *const c_char) -> &'a [u8] {
    if format.is_null() {
        return b"%";
    }
    // SAFETY: the program passes a format that ends with a zero.
    unsafe { CStr::from_ptr(format) }.to_bytes()
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_model_print(site: u64, text: *const c_char, arguments: *const u64, count: u64) {
    record(|turn| print(turn, site, text, arguments, count));
}

fn print(turn: &Turn, site: u64, text: *const c_char, arguments: *const u64, count: u64) {
    let format = bytes_of(text);
    let is_understood = format::printed(format, |_| {}).is_some();
    let Some(mut arguments) = Arguments::new(arguments, count).filter(|_| is_understood) else {
        // Some memory is accessed that is not known.
        turn.fence(site);
        return turn.me.has_missed.set(true);
    };
    scanned(turn, site, text.cast(), format.len() + 1);
    let mut precision = None;
    format::printed(format, |used| {
        let value = arguments.next(used);
        let at = value as *const u8;
        match used {
            // It is an `int`; a negative one counts as none.
            Use::Precision => precision = u32::try_from(value & u64::from(u32::MAX)).ok().and_then(positive),
            Use::Text(_) | Use::WideText | Use::Count(_) if at.is_null() => {}
            Use::Text(given) => {
                let most = given.unwrap_or(precision).map_or(usize::MAX, limit);
                scanned(turn, site, at, size_of_text(at, most));
            }
            // SAFETY: the function reads the text up to its zero.
            Use::WideText => read(turn, site, at, unsafe { wcslen(at.cast()) }.saturating_add(1) * 4),
            // It is written by the call, and a fence after that makes the write known.
            Use::Count(_) => turn.me.has_missed.set(true),
            _ => {}
        }
    });
}

fn positive(precision: u32) -> Option<u64> {
    u64::try_from(precision.cast_signed()).ok()
}

unsafe extern "C" {
    fn wcslen(text: *const libc::wchar_t) -> usize;
}

/// As many conversions as the result says have written; `%n` always does if the conversions before it have.
#[unsafe(no_mangle)]
extern "C" fn __foretell_model_scan(
    site: u64,
    text: *const c_char,
    arguments: *const u64,
    count: u64,
    result: i64,
) {
    record(|turn| scan(turn, site, text, (arguments, count), result));
}

fn scan(turn: &Turn, site: u64, text: *const c_char, (arguments, count): (*const u64, u64), result: i64) {
    let format = bytes_of(text);
    let is_understood = count != u64::MAX && format::scanned(format, |_| {}).is_some();
    let Some(mut arguments) = Arguments::new(arguments, count).filter(|_| is_understood) else {
        return turn.fence(site);
    };
    scanned(turn, site, text.cast(), format.len() + 1);
    let mut left = result;
    format::scanned(format, |used| {
        let at = arguments.next(used) as *const u8;
        left -= i64::from(!matches!(used, Use::Count(_)));
        if left < 0 || at.is_null() {
            return;
        }
        match used {
            Use::Written(bytes) | Use::Count(bytes) => wrote(turn, site, at, limit(bytes)),
            Use::WrittenText => wrote(turn, site, at, size_of_text(at, usize::MAX)),
            _ => {}
        }
    });
}
