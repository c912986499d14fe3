//! The common line of the text format, eight bytes at a time.
//!
//! Nearly all lines of a trace are accesses and lock operations whose names were all seen before and are short. This
//! file recognises just those and leaves everything else, and all errors, to the parser in [`crate::format::text`]; a
//! test holds the two together.

use memchr::memchr;

use crate::event::{Event, Op};
use crate::id::ThreadId;
use crate::name::Names;
use crate::symbol::{Loc, Symbol, Value};

/// Appends the event in the first line of `text` and returns how long this line is with its end. `None` means only that
/// the other parser must look at it.
#[inline(always)]
pub(crate) fn event(text: &[u8], names: &mut Names, events: &mut Vec<Event>) -> Option<usize> {
    let first = word(text, 0)?;
    let thread_length = position(first, b'|')?;
    let thread: ThreadId = names.threads.known_short(prefix(first, thread_length)?)?;
    if text[0] == b'#' {
        return None;
    }
    let step = Operation::find(text, thread_length + 1)?;
    // Each operation is built where it stays: moving it about would take longer than reading it.
    match step.kind {
        Kind::Acquire | Kind::Release => {
            let lock = names.locks.known_short(step.name)?;
            let (loc, length) = location(text, step.end, names)?;
            let op = if step.kind == Kind::Acquire { Op::Acquire(lock) } else { Op::Release(lock) };
            events.push(Event::new(thread, op, loc));
            Some(length)
        }
        Kind::Read => {
            let var = names.vars.known_short(step.name)?;
            let (loc, length) = location(text, step.end, names)?;
            events.push(Event::new(thread, Op::Read { var, value: step.value }, loc));
            Some(length)
        }
        Kind::Write => {
            let var = names.vars.known_short(step.name)?;
            let (loc, length) = location(text, step.end, names)?;
            events.push(Event::new(thread, Op::Write { var, value: step.value }, loc));
            Some(length)
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Acquire,
    Release,
}

/// An operation as it stands in the line.
struct Operation {
    kind: Kind,
    /// The key of the short name of what it is applied to.
    name: u64,
    value: Option<Value>,
    /// Where the location begins.
    end: usize,
}

impl Operation {
    #[inline(always)]
    fn find(text: &[u8], at: usize) -> Option<Operation> {
        let start = word(text, at)?;
        match start & 0xFFFF {
            READ => Operation::access(Kind::Read, text, at + 2),
            WRITE => Operation::access(Kind::Write, text, at + 2),
            _ => match start & 0xFFFF_FFFF {
                ACQUIRE => Operation::lock(Kind::Acquire, text, at + 4),
                RELEASE => Operation::lock(Kind::Release, text, at + 4),
                _ => None,
            },
        }
    }

    #[inline(always)]
    fn lock(kind: Kind, text: &[u8], at: usize) -> Option<Operation> {
        let start = word(text, at)?;
        let length = position(start, b')')?;
        let end = closed(text, at + length)?;
        Some(Operation { kind, name: prefix(start, length)?, value: None, end })
    }

    #[inline(always)]
    fn access(kind: Kind, text: &[u8], at: usize) -> Option<Operation> {
        let start = word(text, at)?;
        let comma = position(start, b',').unwrap_or(8);
        let close = position(start, b')').unwrap_or(8);
        if close <= comma {
            let end = closed(text, at + close)?;
            return Some(Operation { kind, name: prefix(start, close)?, value: None, end });
        }
        let (number, digits) = number(text, at + comma + 1, b')')?;
        let end = closed(text, at + comma + 1 + digits)?;
        Some(Operation { kind, name: prefix(start, comma)?, value: Some(Value(number)), end })
    }
}

/// The location that begins at `at`, and where the next line begins.
#[inline]
fn location(text: &[u8], at: usize, names: &mut Names) -> Option<(Loc, usize)> {
    if let Some((number, digits)) = number(text, at, b'\n') {
        return Some((Loc(number), at + digits + 1));
    }
    let rest = &text[at..];
    let line = &rest[..memchr(b'\n', rest)?];
    let location = line.strip_suffix(b"\r").unwrap_or(line);
    if location.is_empty() {
        return None;
    }
    let loc = names.loc(location).ok()?;
    Some((loc, at + line.len() + 1))
}

/// Where the location begins, if the operation ends at `at`.
#[inline]
fn closed(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at..at + 2)? == b")|").then_some(at + 2)
}

const ACQUIRE: u64 = u32::from_le_bytes(*b"acq(") as u64;
const RELEASE: u64 = u32::from_le_bytes(*b"rel(") as u64;
const READ: u64 = u16::from_le_bytes(*b"r(") as u64;
const WRITE: u64 = u16::from_le_bytes(*b"w(") as u64;

/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The eight bytes at `at`, the first one lowest.
#[inline]
fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Where `byte` stands first in the word.
#[inline]
fn position(word: u64, byte: u8) -> Option<usize> {
    let zero_where_found = word ^ (ONES * u64::from(byte));
    let found = zero_where_found.wrapping_sub(ONES) & !zero_where_found & (ONES << 7);
    if found == 0 { None } else { Some(found.trailing_zeros() as usize / 8) }
}

/// The first `length` bytes, the key of a short name. None of them may be zero at the end, where it could not be
/// distinguished from padding.
#[inline]
fn prefix(word: u64, length: usize) -> Option<u64> {
    if length == 0 || length > 7 {
        return None;
    }
    let key = word & ((1 << (8 * length)) - 1);
    (key >> (8 * (length - 1)) != 0).then_some(key)
}

/// The natural number at `at` that ends before `end`, if it is spelt canonically, and how many digits it has.
#[inline(always)]
fn number(text: &[u8], at: usize, end: u8) -> Option<(Symbol, usize)> {
    let low = word(text, at)?;
    let (value, digits) = match position(low, end) {
        Some(count) => (digits(low, count)?, count),
        None => {
            let high = word(text, at + 8)?;
            let count = position(high, end).filter(|&count| count <= 2)?;
            (digits(low, 8)? * [1, 10, 100][count] + digits(high, count)?, 8 + count)
        }
    };
    if digits == 0 || (text[at] == b'0' && digits > 1) {
        return None;
    }
    Symbol::number(u32::try_from(value).ok()?).map(|symbol| (symbol, digits))
}

/// The number that the first `count` bytes spell, if all are digits: pairs of digits are joined first, then pairs of
/// pairs.
#[inline]
fn digits(word: u64, count: usize) -> Option<u64> {
    if count == 0 {
        return Some(0);
    }
    let digits = (word ^ (ONES * 0x30)) << (64 - 8 * count);
    if (digits | digits.wrapping_add(ONES * 0x76)) & (ONES << 7) != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    Some(low.wrapping_add(high) >> 32)
}
