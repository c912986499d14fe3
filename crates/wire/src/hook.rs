//! The functions that instrumented code calls, and the codes that it passes to them.
//!
//! Hooks perform the access themselves: the value in the record is the value of the access, and nothing can come
//! between the two. A *site* is a pointer into the module's site table, see [`crate::site`].
//!
//! | hook | C signature |
//! |---|---|
//! | [`LOAD`]N | `u64 (site, addr)` |
//! | [`STORE`]N | `void (site, addr, u64 value)` |
//! | [`ATOMIC_LOAD`]N | `u64 (site, addr, u32 order)` |
//! | [`ATOMIC_STORE`]N | `void (site, addr, u64 value, u32 order)` |
//! | [`RMW`]N | `u64 (site, addr, u64 operand, u32 update, u32 order)`, returns what was there |
//! | [`CMPXCHG`]N | `u64 (site, addr, u64 expected, u64 desired, u32 success, u32 failure)`, returns what was there |
//! | [`READ_RANGE`] | `void (site, addr, void *into, u64 bytes)`: a load of any size |
//! | [`WRITE_RANGE`] | `void (site, addr, const void *from, u64 bytes)`: a store of any size |
//! | [`COPY`] | `void (site, to, from, u64 bytes)`: both sides are the program's memory; they may overlap |
//! | [`FILL`] | `void (site, addr, u32 byte, u64 bytes)` |
//! | [`LOCAL_END`] | `void (site, addr, u64 bytes)`: a local variable is no more whose address others may know |
//! | [`FENCE`] | `void (u32 order)` |
//! | [`BRANCH`] | `void (site)`: what the thread has read decides what it does next |
//! | [`BRANCH_BY`] | `void (site, u64 value)`: as [`BRANCH`], with the condition, the value of a switch, or the target |
//! | [`CALL`] | `void (site)`: code out of the module is called that the runtime may want to know the caller of |
//! | [`GIVE_BACK`] | `void (site, function)`: as [`CALL`], and memory is given back there, by this function or one that ends in it |
//! | [`TAKE`] | `void (site)`: as [`CALL`], and memory is allocated there |
//! | [`UNASKED`] | `void (site)`: as [`CALL`], and what the call returns is not looked at |
//! | [`STACK`] | `u64 ()`: which calls the thread is in |
//! | [`ENTER`] | `u64 (site)`: an instrumented function is called; returns which calls the thread was in before |
//! | [`LEAVE`] | `u64 (site, callee)`: as [`ENTER`], but the callee may not be instrumented |
//! | [`TAIL`] | `void (site, callee)`: as [`LEAVE`], but the caller is no more: no thread comes back to it |
//! | [`CALLED`] | `u64 ()`: a function begins that code may have called which is not instrumented; returns the calls before |
//! | [`RETURN`] | `void (u64 stack)`: the thread is back in these calls, be it by an exception |
//! | [`ALLOCATOR`] | `void (u32 gives_back)`: the program's own allocator begins, the thread that calls it |
//! | [`ALLOCATOR_END`] | `void ()`: it is about to return |
//! | [`MODEL_BEGIN`] | `u64 (site, callee, u64 condition, word, u64 records)`: as [`LEAVE`], of a function with a model, which may hold under a [`HookCondition`]; its effects follow, if it has any |
//! | [`MODEL_LEAVE`] | `u64 (site, u64 channel)`: other threads, or functions that are called back by way of a channel ([`crate::act::channel`]), may run until [`MODEL_BACK`]; returns 0 if the model does not hold |
//! | [`MODEL_BACK`] | `void (u64 left)`: the thread is back from the call; with what [`MODEL_LEAVE`] has returned |
//! | [`MODEL_TRY`] | `void (site, u64 act, object, lock)`: it is about to do this, see [`crate::act`]; instead of the lock there is the size of a word |
//! | [`MODEL_ACT`] | `void (site, u64 act, object, lock, u64 did)`: it does this, or has done it (1, or [`crate::act::MIGHT_NOT_HAVE`]), or could not (0) |
//! | [`MODEL_ALLOC`] | `void (site, addr, u64 bytes)`: it has returned so much new memory |
//! | [`MODEL_FREE`] | `void (site, addr)`: it gives memory back |
//! | [`MODEL_READ`], [`MODEL_READ_TEXT`] | `void (site, addr, u64 indirect, u64 offset, u64 bytes)`: it reads so much, or a text of at most so much |
//! | [`MODEL_WRITE`], [`MODEL_WRITE_TEXT`] | the same: it has written |
//! | [`MODEL_PRINT`] | `void (site, format, arguments, u64 count)`: it formats; a count of all ones says that the arguments are a `va_list` |
//! | [`MODEL_SCAN`] | `void (site, format, arguments, u64 count, i64 result)`: it has parsed |
//! | [`MODEL_IO`] | `void (site, stream)`: it keeps its order among I/O |
//! | [`MODEL_CLOCK`] | `void (site)`: it has asked for the time |
//! | [`MODEL_END`] | `void ()`: all its effects were recorded |
//! | [`THREAD`] | `void *()`: the front of the calling thread's log, see [`front`] |
//! | [`MODULE`] | `u8 (table, u64 bytes, void *const *globals, u64 count)`: 0 if the process will never be recorded |
//!
//! `N` is 1, 2, 4 or 8 bytes. Plain accesses are made and recorded without the runtime, as long as nothing has
//! to be looked at: see [`front`].

/// A plain load.
pub const LOAD: &str = "__foretell_load";
/// A plain store.
pub const STORE: &str = "__foretell_store";
/// An atomic load.
pub const ATOMIC_LOAD: &str = "__foretell_atomic_load";
/// An atomic store.
pub const ATOMIC_STORE: &str = "__foretell_atomic_store";
/// An atomic read-modify-write.
pub const RMW: &str = "__foretell_rmw";
/// An atomic compare-exchange.
pub const CMPXCHG: &str = "__foretell_cmpxchg";
/// A load of a type that has no hook of its own.
pub const READ_RANGE: &str = "__foretell_read_range";
/// A store of a type that has no hook of its own.
pub const WRITE_RANGE: &str = "__foretell_write_range";
/// `memcpy` and `memmove`.
pub const COPY: &str = "__foretell_copy";
/// `memset`.
pub const FILL: &str = "__foretell_fill";
/// The end of a local variable whose address others may know.
pub const LOCAL_END: &str = "__foretell_local_end";
/// A memory fence.
pub const FENCE: &str = "__foretell_fence";
/// A decision, or an address that was computed from what was read.
pub const BRANCH: &str = "__foretell_branch";
/// A branch in the code, which goes one of several ways.
pub const BRANCH_BY: &str = "__foretell_branch_by";
/// A call out of the module, of a function that is known to touch no memory of the program unseen.
pub const CALL: &str = "__foretell_call";
/// Such a call that may give memory back: no thread sees that if the program has an allocator of its own without
/// hooks.
pub const GIVE_BACK: &str = "__foretell_give_back";
/// Such a call that allocates memory.
pub const TAKE: &str = "__foretell_take";
/// The beginning of the program's own allocator.
pub const ALLOCATOR: &str = "__foretell_allocator";
/// The end of the program's own allocator.
pub const ALLOCATOR_END: &str = "__foretell_allocator_end";
/// Such a call whose result is not looked at, of a function whose result tells of other threads.
pub const UNASKED: &str = "__foretell_unasked";
/// Asks which calls the thread is in.
pub const STACK: &str = "__foretell_stack";
/// A call of an instrumented function.
pub const ENTER: &str = "__foretell_enter";
/// A call of a function that may touch any memory unseen, unless the runtime knows it as instrumented.
pub const LEAVE: &str = "__foretell_leave";
/// Such a call in place of a return.
pub const TAIL: &str = "__foretell_tail";
/// The beginning of a function that code may have called which is not instrumented.
pub const CALLED: &str = "__foretell_called";
/// Back from a call, be it by an exception.
pub const RETURN: &str = "__foretell_return";
/// Begins a call of a function with a model.
pub const MODEL_BEGIN: &str = "__foretell_model_begin";
/// From such a function others may be called.
pub const MODEL_LEAVE: &str = "__foretell_model_leave";
/// Back from such a function.
pub const MODEL_BACK: &str = "__foretell_model_back";
/// Such a function is about to synchronise.
pub const MODEL_TRY: &str = "__foretell_model_try";
/// Such a function synchronises.
pub const MODEL_ACT: &str = "__foretell_model_act";
/// Such a function has allocated memory.
pub const MODEL_ALLOC: &str = "__foretell_model_alloc";
/// Such a function gives memory back.
pub const MODEL_FREE: &str = "__foretell_model_free";
/// Such a function reads memory.
pub const MODEL_READ: &str = "__foretell_model_read";
/// Such a function reads a text.
pub const MODEL_READ_TEXT: &str = "__foretell_model_read_text";
/// Such a function has written memory.
pub const MODEL_WRITE: &str = "__foretell_model_write";
/// Such a function has written a text.
pub const MODEL_WRITE_TEXT: &str = "__foretell_model_write_text";
/// Such a function formats as `printf` does.
pub const MODEL_PRINT: &str = "__foretell_model_print";
/// Such a function has parsed as `scanf` does.
pub const MODEL_SCAN: &str = "__foretell_model_scan";
/// Such a function keeps its order among I/O.
pub const MODEL_IO: &str = "__foretell_model_io";
/// All effects of such a function were recorded.
pub const MODEL_END: &str = "__foretell_model_end";
/// Such a function has asked for the time.
pub const MODEL_CLOCK: &str = "__foretell_model_clock";
/// Asks for the front of the calling thread's log. The answer may be kept for as long as a function runs, even if
/// another thread takes its stack over: of all fronts that are not the caller's none lets it write.
pub const THREAD: &str = "__foretell_thread";
/// Tells the runtime about a module; called by a constructor.
pub const MODULE: &str = "__foretell_module";

/// What stands in memory right before the first instruction of every instrumented function, so that the runtime can
/// tell from an address whether the function there tells what it does.
pub const MARK: u64 = u64::from_le_bytes(*b"foretell");

/// What all names above begin with.
pub const PREFIX: &str = "__foretell_";

/// What instrumented code looks at to do something by itself: numbers at these places from where [`THREAD`] says.
///
/// Every plain access and every call of an instrumented function takes a unit of [`front::TIME`], so that turns end
/// at the same moments whatever else is done.
///
/// It *records* if no thread is [`front::INSIDE`], the time is below the [`front::LIMIT`], the [`front::CURSOR`]
/// before the [`front::END`], and the site is in the segment that is [`front::OPEN`]. It is inside meanwhile, so that
/// neither a signal handler nor another thread touches the log. Of a plain access, the step from what the site
/// accessed last, in [`front::ADDRS`], must have two bytes: then the record is short (see [`crate::pack`]). A call
/// needs room for its site on the stack. To return from a call, it must be the last one.
///
/// It *passes over* a plain access in a program that looks for races in itself, if the time is below [`front::WATCH`]
/// and the detector has seen the same access in the same [`front::GENERATION`]: then [`front::SEEN`] has a number for
/// it, see [`front::seen`]. Calls are then only put on the stack, and [`front::SAME`] tells how many of them have
/// been there all the time.
pub mod front {
    /// Which calls the thread is in.
    pub const CALLS: u64 = 0;
    /// The address of the sites of these calls, one after the other.
    pub const STACK: u64 = 8;
    /// For how many sites there is room.
    pub const ROOM: u64 = 16;
    /// How many of the sites have not changed since the calls were last recorded; has four bytes.
    pub const SAME: u64 = 28;
    /// Where the next record goes.
    pub const CURSOR: u64 = 64;
    /// Where the room for records ends.
    pub const END: u64 = CURSOR + 8;
    /// How much the thread has done.
    pub const TIME: u64 = CURSOR + 16;
    /// Up to which time the thread may record by itself.
    pub const LIMIT: u64 = CURSOR + 24;
    /// Up to which time the thread may pass over what the detector knows.
    pub const WATCH: u64 = CURSOR + 32;
    /// Where the stack ended when the thread began to write to its log, or came into the runtime; 0 if it does
    /// neither.
    pub const INSIDE: u64 = CURSOR + 40;
    /// The segment of sites that may be recorded so, or 0. If not 0, the log knows which calls the thread is
    /// in.
    pub const OPEN: u64 = CURSOR + 48;
    /// The address of what the detector has seen.
    pub const SEEN: u64 = CURSOR + 56;
    /// What is added to the address of an access, to tell when it was seen.
    pub const GENERATION: u64 = CURSOR + 64;
    /// What sites accessed last.
    pub const ADDRS: u64 = CURSOR + 72;

    /// How many calls these are, of a number that tells which.
    pub const DEPTH: u64 = u32::MAX as u64;

    /// Of so many accesses of a kind it is known that the detector has seen them.
    pub const KEPT: u64 = 2048;
    /// Reads and writes of 1, 2, 4 and 8 bytes.
    pub const KINDS: u64 = 8;

    /// Where the accesses of a kind, with `1 << size` bytes, begin in [`SEEN`], in bytes.
    pub fn seen_kind(writes: bool, size: u32) -> u64 {
        (u64::from(writes) * 4 + u64::from(size)) * KEPT * 8
    }

    /// What is left of `address << (3 - size)`, for an access of `1 << size` bytes: where it is among those of its
    /// kind, in bytes.
    pub const SEEN_PLACES: u64 = (KEPT - 1) * 8;

    /// Where the number of an access is in [`SEEN`], as an index.
    pub fn seen(writes: bool, size: u32, addr: u64) -> usize {
        ((seen_kind(writes, size) + ((addr << (3 - size)) & SEEN_PLACES)) / 8) as usize
    }
}

/// When the model of a function holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum HookCondition {
    /// Always.
    None = 0,
    /// If the word is a stream of the console.
    Console = 1,
    /// If the word behind the pointer is zero.
    Zero = 2,
    /// If the library of OpenMP tells what its threads do.
    OpenMp = 3,
}

/// The order of an atomic operation, as hooks get it and records keep it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the orders of C11")]
pub enum MemoryOrder {
    Relaxed = 0,
    Acquire = 1,
    Release = 2,
    AcqRel = 3,
    SeqCst = 4,
}

impl MemoryOrder {
    /// The order with this code; an unknown code is the strongest order.
    pub fn from_code(code: u8) -> MemoryOrder {
        match code {
            0 => MemoryOrder::Relaxed,
            1 => MemoryOrder::Acquire,
            2 => MemoryOrder::Release,
            3 => MemoryOrder::AcqRel,
            _ => MemoryOrder::SeqCst,
        }
    }

    /// The part of the order that a load alone can have.
    pub fn of_load(self) -> MemoryOrder {
        match self {
            MemoryOrder::Release => MemoryOrder::Relaxed,
            MemoryOrder::AcqRel => MemoryOrder::Acquire,
            other => other,
        }
    }
}

/// What a read-modify-write does with the value that was there. The codes are those of LLVM's C interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of LLVM")]
pub enum Update {
    Xchg = 0,
    Add = 1,
    Sub = 2,
    And = 3,
    Nand = 4,
    Or = 5,
    Xor = 6,
    Max = 7,
    Min = 8,
    UMax = 9,
    UMin = 10,
    FAdd = 11,
    FSub = 12,
    FMax = 13,
    FMin = 14,
    UIncWrap = 15,
    UDecWrap = 16,
}

impl Update {
    const ALL: [Update; 17] = [
        Update::Xchg,
        Update::Add,
        Update::Sub,
        Update::And,
        Update::Nand,
        Update::Or,
        Update::Xor,
        Update::Max,
        Update::Min,
        Update::UMax,
        Update::UMin,
        Update::FAdd,
        Update::FSub,
        Update::FMax,
        Update::FMin,
        Update::UIncWrap,
        Update::UDecWrap,
    ];

    /// The update with this code, if hooks know it.
    pub fn from_code(code: u32) -> Option<Update> {
        Update::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// What is there afterwards; of both values the lowest `bytes` (1, 2, 4 or 8) count, the rest of the result is
    /// zero.
    pub fn apply(self, old: u64, operand: u64, bytes: usize) -> u64 {
        let mask = if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        let (old, operand) = (old & mask, operand & mask);
        let signed = |value: u64| {
            let unused = 64 - 8 * bytes.min(8);
            (value << unused).cast_signed() >> unused
        };
        let new = match self {
            Update::Xchg => operand,
            Update::Add => old.wrapping_add(operand),
            Update::Sub => old.wrapping_sub(operand),
            Update::And => old & operand,
            Update::Nand => !(old & operand),
            Update::Or => old | operand,
            Update::Xor => old ^ operand,
            Update::Max => std::cmp::max_by_key(old, operand, |&value| signed(value)),
            Update::Min => std::cmp::min_by_key(old, operand, |&value| signed(value)),
            Update::UMax => old.max(operand),
            Update::UMin => old.min(operand),
            Update::FAdd => float(old, operand, bytes, |a, b| a + b, |a, b| a + b),
            Update::FSub => float(old, operand, bytes, |a, b| a - b, |a, b| a - b),
            Update::FMax => float(old, operand, bytes, f64::max, f32::max),
            Update::FMin => float(old, operand, bytes, f64::min, f32::min),
            Update::UIncWrap if old >= operand => 0,
            Update::UIncWrap => old + 1,
            Update::UDecWrap if old == 0 || old > operand => operand,
            Update::UDecWrap => old - 1,
        };
        new & mask
    }
}

fn float(
    old: u64,
    operand: u64,
    bytes: usize,
    double: impl Fn(f64, f64) -> f64,
    single: impl Fn(f32, f32) -> f32,
) -> u64 {
    match (bytes, u32::try_from(old), u32::try_from(operand)) {
        (4, Ok(old), Ok(operand)) => {
            u64::from(single(f32::from_bits(old), f32::from_bits(operand)).to_bits())
        }
        _ => double(f64::from_bits(old), f64::from_bits(operand)).to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_keep_to_their_width() {
        assert_eq!(Update::Add.apply(0xFF, 2, 1), 1);
        assert_eq!(Update::Sub.apply(0, 1, 4), 0xFFFF_FFFF);
        assert_eq!(Update::Max.apply(0xFF, 1, 1), 1, "minus one is less than one");
        assert_eq!(Update::UMax.apply(0xFF, 1, 1), 0xFF);
        assert_eq!(Update::Nand.apply(3, 1, 2), 0xFFFE);
        assert_eq!(Update::UIncWrap.apply(4, 4, 4), 0);
        assert_eq!(Update::UDecWrap.apply(0, 7, 8), 7);
        let one = u64::from(1.0_f32.to_bits());
        assert_eq!(Update::FAdd.apply(one, one, 4), u64::from(2.0_f32.to_bits()));
        assert_eq!(Update::FMin.apply(1.5_f64.to_bits(), 2.5_f64.to_bits(), 8), 1.5_f64.to_bits());
    }

    #[test]
    fn codes_are_positions() {
        for (code, update) in Update::ALL.into_iter().enumerate() {
            assert_eq!(update as usize, code);
        }
        assert_eq!(Update::from_code(17), None);
        for order in [
            MemoryOrder::Relaxed,
            MemoryOrder::Acquire,
            MemoryOrder::Release,
            MemoryOrder::AcqRel,
            MemoryOrder::SeqCst,
        ] {
            assert_eq!(MemoryOrder::from_code(order as u8), order);
        }
    }
}
