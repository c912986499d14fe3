//! What a race is known by from run to run: a text that stays the same when lines are inserted above it, when threads
//! have other names, and when the schedule is another one.
//!
//! It is made of what does not move: what kind of accesses the two are, to which variable, in which function of which
//! file, what the two lines say, and where in them. Where the source cannot be read, the function stands for the
//! line; where no function is known either, as in plain traces, the location itself does. Reads and writes are not
//! distinguished: `counter++` is both at one place, and which of them is found to race differs from schedule to
//! schedule.

use rustc_hash::FxHashMap;

use crate::context::{SourceLocation, own_frame};
use crate::function_name::{after_arguments, has_arguments};
use crate::report::{RacingAccess, Report};

/// The way in which fingerprints are made. Those of different ways have nothing to do with each other.
pub const VERSION: &str = "v1";

/// Gives each race and each candidate its fingerprint. No two of a report have the same: what is alike in everything is
/// numbered in the order of the lines.
pub fn mark(report: &mut Report) {
    let races = report.races.iter_mut().map(|race| (&race.first, &race.second, &mut race.fingerprint));
    let open = report.undecided.iter_mut().map(|open| (&open.first, &open.second, &mut open.fingerprint));
    let mut pairs: Vec<(Pair, &mut Option<String>)> =
        races.chain(open).map(|(first, second, mark)| (Pair::new(first, second), mark)).collect();
    pairs.sort_by_key(|(pair, _)| *pair);
    let mut alike: FxHashMap<u64, usize> = FxHashMap::default();
    for (Pair { hash, .. }, mark) in pairs {
        let ordinal = alike.entry(hash).or_default();
        *ordinal += 1;
        *mark = Some(fingerprint(hash, *ordinal));
    }
    mark_deadlocks(report);
    mark_violations(report);
}

/// The same for violations.
fn mark_violations(report: &mut Report) {
    let mut alike: FxHashMap<u64, usize> = FxHashMap::default();
    for violation in &mut report.violations {
        let (first, second) = (lasting(&violation.first), lasting(&violation.second));
        let kind = [violation.kind.id().to_string()];
        let hash = hash(kind.iter().chain(&first).chain(&second));
        let ordinal = alike.entry(hash).or_default();
        *ordinal += 1;
        violation.fingerprint = Some(fingerprint(hash, *ordinal));
    }
}

/// The same for deadlocks.
fn mark_deadlocks(report: &mut Report) {
    let mut alike: FxHashMap<u64, usize> = FxHashMap::default();
    for deadlock in &mut report.deadlocks {
        let hash = hash(deadlock.lasting().iter());
        let ordinal = alike.entry(hash).or_default();
        *ordinal += 1;
        deadlock.fingerprint = Some(fingerprint(hash, *ordinal));
    }
}

fn fingerprint(hash: u64, ordinal: usize) -> String {
    match ordinal {
        1 => format!("{VERSION}:{hash:016x}"),
        ordinal => format!("{VERSION}:{hash:016x}-{ordinal}"),
    }
}

/// Two accesses, whichever comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pair {
    /// What stays the same.
    hash: u64,
    /// Lines and columns.
    places: [(u32, u32); 2],
    events: [u32; 2],
}

impl Pair {
    fn new(first: &RacingAccess, second: &RacingAccess) -> Pair {
        let mut sides = [first, second].map(|access| (lasting(access), place(access), access.event));
        sides.sort();
        let [(one, one_place, one_event), (other, other_place, other_event)] = &sides;
        Pair {
            hash: hash(one.iter().chain(other)),
            places: [*one_place, *other_place],
            events: [*one_event, *other_event],
        }
    }
}

/// What lasts of an access.
fn lasting(access: &RacingAccess) -> [String; 6] {
    let place = SourceLocation::parse(&access.location);
    let kind = match access.op.split('.').next().unwrap_or_default() {
        "r" | "w" => "plain",
        "aload" | "astore" | "rmw" => "atomic",
        other => other,
    };
    let file = place.map_or("", |place| place.file.rsplit('/').next().unwrap_or_default());
    let function = access.function.as_deref().map(without_instance);
    // Of what happens in a library, the way there tells more.
    let caller = own_frame(&access.stack).map(|frame| without_instance(&frame.function));
    let line = match (&access.source, &function) {
        (Some(source), _) => without_spaces(source, place.and_then(|place| place.column)),
        (None, Some(_)) => String::new(),
        (None, None) => access.location.clone(),
    };
    [
        kind.to_string(),
        without_numbers(&access.target),
        file.to_string(),
        function.unwrap_or_default(),
        caller.unwrap_or_default(),
        line,
    ]
}

/// What a line says, and how much of it comes before the column, however it is indented.
fn without_spaces(line: &str, column: Option<u32>) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let column = column.and_then(|column| usize::try_from(column).ok()).unwrap_or_default();
    let before = line.chars().take(column.saturating_sub(1));
    format!("{} {}", before.filter(|character| !character.is_whitespace()).count(), words.join(" "))
}

fn place(access: &RacingAccess) -> (u32, u32) {
    SourceLocation::parse(&access.location).map_or((0, 0), |place| (place.line, place.column.unwrap_or(0)))
}

/// FNV-1a: simple, and the same for ever.
fn hash<'a>(parts: impl Iterator<Item = &'a String>) -> u64 {
    // No text has a byte like this, so it tells where one ends.
    const END: u8 = 0xff;
    let bytes = parts.flat_map(|part| part.bytes().chain([END]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A variable without what differs from run to run: `heap12+8`, `0x7f01`, `total#2`, `account[3]` and
/// `node@main.1.2.next` are `heap`, `0x`, `total`, `account[]` and `node@.next`.
pub(crate) fn without_numbers(name: &str) -> String {
    let mut rest = name;
    let mut kept = String::with_capacity(name.len());
    for block in ["heap", "stack"] {
        if let Some(after) = name.strip_prefix(block).filter(|after| after.starts_with(is_digit)) {
            kept.push_str(block);
            rest = after.trim_start_matches(is_digit);
        }
    }
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        let without_digits = after.trim_start_matches(is_digit);
        let has_digits = without_digits.len() < after.len();
        rest = match next {
            '#' | '+' if has_digits => without_digits,
            '[' if has_digits => {
                kept.push('[');
                without_digits
            }
            '@' => {
                kept.push('@');
                after_owner(after)
            }
            '0' if after.starts_with('x') => {
                kept.push_str("0x");
                after.trim_start_matches('x').trim_start_matches(|digit: char| digit.is_ascii_hexdigit())
            }
            other => {
                kept.push(other);
                after
            }
        };
    }
    kept
}

/// What follows the thread and the number of a cell: `.next` in `main.1.2.next`.
fn after_owner(text: &str) -> &str {
    let mut rest = text.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    while let Some(number) = rest.strip_prefix('.').filter(|number| number.starts_with(is_digit)) {
        rest = number.trim_start_matches(is_digit);
    }
    rest
}

/// A function without what only tells its instances apart: type arguments, hashes, the numbers of closures.
fn without_instance(name: &str) -> String {
    let name = name.split(".llvm.").next().unwrap_or_default();
    let name = name.rsplit_once("::h").filter(|(_, hash)| is_hash(hash)).map_or(name, |(name, _)| name);
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        let skipped = match next {
            '<' if has_arguments(&kept) => after_arguments(rest),
            '#' => Some(after.trim_start_matches(is_digit)).filter(|rest| rest.len() < after.len()),
            '[' => after.split_once(']').filter(|(inner, _)| is_hash(inner)).map(|(_, rest)| rest),
            _ => None,
        };
        if skipped.is_none() {
            kept.push(next);
        } else if next == '<' && kept.ends_with("::") {
            kept.truncate(kept.len() - 2);
        }
        rest = skipped.unwrap_or(after);
    }
    kept
}

fn is_hash(text: &str) -> bool {
    text.len() >= 8 && text.chars().all(|digit| digit.is_ascii_hexdigit())
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

#[cfg(test)]
mod tests;
