//! Which functions tell what they do: all that have the mark of the compiler pass in front of them.
//!
//! The compiler may put more between the mark and the first instruction: what checks of calls by pointer look at, or room for patches. And
//! an address may be that of a jump to the function: an entry of a table that such checks, or the linker, have made.

use std::ffi::CStr;

use foretell_wire::hook::MARK;

use crate::system::peek;

/// Libraries whose threads do nothing but call what the program gave them: the standard library of C++.
const THREADING: &[u8] = b"libstdc++.so";

/// Smaller than every page of a processor that we know.
const PAGE: u64 = 4096;

/// So many jumps are followed.
const MOST_JUMPS: u32 = 4;

/// Whether the function at this address is instrumented.
pub(crate) fn is_instrumented(function: u64) -> bool {
    has_mark(function, 0) || (function != 0 && is_marked_further_away(function))
}

/// Whether the mark ends so many bytes before the function.
fn has_mark(function: u64, distance: u64) -> bool {
    word_before(function, distance) == Some(MARK)
}

/// The eight bytes that end so many bytes before the function.
fn word_before(function: u64, distance: u64) -> Option<u64> {
    let place = function.checked_sub(distance + size_of::<u64>() as u64).filter(|&place| place >= PAGE)?;
    if place / PAGE == function / PAGE {
        // The page of a function can be read.
        return Some(unsafe { (place as *const u64).read_unaligned() });
    }
    // Before the first page of code there may be nothing.
    peek(place)
}

#[cold]
fn is_marked_further_away(address: u64) -> bool {
    let mut function = address;
    for _ in 0..MOST_JUMPS {
        if is_marked_before_other_data(function) {
            return true;
        }
        match jump::target(function) {
            Some(target) => function = target,
            None => return false,
        }
    }
    false
}

/// `-fsanitize=function` puts this before a function, and a number that stands for its type,
const SIGNATURE: u32 = 0xC105_CAFE;
/// `-fsanitize=kcfi` an instruction with such a number,
const KCFI: u64 = 5;
/// and both that and `-fpatchable-function-entry` so many of these, or fewer.
const NO_OPERATION: u8 = 0x90;
const MOST_OPERATIONS: u64 = 256;

/// Skips what the compiler has put between the mark and the function, from its end.
fn is_marked_before_other_data(function: u64) -> bool {
    let byte = |distance: u64| word_before(function, distance).map(|word| word.to_le_bytes()[7]);
    let mut distance = 0;
    if word_before(function, 0).is_some_and(|word| word.to_le_bytes()[..4] == SIGNATURE.to_le_bytes()) {
        distance = size_of::<u64>() as u64;
    }
    let skip_idle = |mut distance: u64| {
        let end = distance + MOST_OPERATIONS;
        while distance < end && byte(distance) == Some(NO_OPERATION) {
            distance += 1;
        }
        distance
    };
    distance = skip_idle(distance);
    has_mark(function, distance)
        || (byte(distance + KCFI - 1) == Some(jump::MOVE) && has_mark(function, skip_idle(distance + KCFI)))
}

/// Jumps that stand for functions.
#[cfg(target_arch = "x86_64")]
mod jump {
    use super::PAGE;
    use crate::system::peek;

    /// Puts a number into the register `eax`.
    pub(super) const MOVE: u8 = 0xB8;

    /// What may stand in front of the jump: a mark for the processor that one may come here, and a prefix.
    const LANDING: &[u8] = &[0xF3, 0x0F, 0x1E, 0xFA];
    const BOUNDED: &[u8] = &[0xF2];
    /// To so many bytes further on, and to what stands so many bytes further on.
    const DIRECT: &[u8] = &[0xE9];
    const INDIRECT: &[u8] = &[0xFF, 0x25];

    /// Where the code at this address jumps to, if it does nothing else.
    pub(super) fn target(address: u64) -> Option<u64> {
        let code = code(address)?;
        let rest = code.strip_prefix(LANDING).unwrap_or(&code);
        let rest = rest.strip_prefix(BOUNDED).unwrap_or(rest);
        let is_direct = rest.starts_with(DIRECT);
        let rest = rest.strip_prefix(DIRECT).or_else(|| rest.strip_prefix(INDIRECT))?;
        let (distance, after) = rest.split_first_chunk::<4>()?;
        let next = address.wrapping_add((code.len() - after.len()) as u64);
        let place = next.wrapping_add_signed(i32::from_le_bytes(*distance).into());
        if is_direct { Some(place) } else { peek(place) }
    }

    /// The first bytes of the code, if they are all in one page.
    fn code(address: u64) -> Option<[u8; 16]> {
        let is_in_page = address >= PAGE && address % PAGE <= PAGE - 16;
        // The page of a function can be read.
        is_in_page.then(|| unsafe { (address as *const [u8; 16]).read() })
    }
}

/// Jumps that stand for functions: those of other processors are not known, so such a function counts as uninstrumented.
#[cfg(not(target_arch = "x86_64"))]
mod jump {
    pub(super) const MOVE: u8 = 0;

    pub(super) fn target(_: u64) -> Option<u64> {
        None
    }
}

/// Whether a thread that begins with this function does nothing unseen on its way to instrumented code.
pub(crate) fn begins_a_thread_seen(function: u64) -> bool {
    is_instrumented(function) || library(function).is_some_and(|name| name.starts_with(THREADING))
}

/// The name of the file that a function was loaded from, if the loader knows.
fn library(function: u64) -> Option<&'static [u8]> {
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    let known = unsafe { libc::dladdr(function as *const libc::c_void, &mut about) } != 0;
    let path = (known && !about.dli_fname.is_null()).then(|| unsafe { CStr::from_ptr(about.dli_fname) })?;
    path.to_bytes().rsplit(|&byte| byte == b'/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that begins after these bytes, as they would be in memory.
    fn is_found_after(before: &[u8]) -> bool {
        let mut memory = vec![0xCC_u8; 64];
        memory.extend_from_slice(before);
        let at = memory.len();
        memory.extend([0xC3; 64]);
        is_instrumented(memory.as_ptr() as u64 + at as u64)
    }

    #[test]
    fn the_mark_is_found_behind_what_the_compiler_puts_in_between() {
        let mark = MARK.to_le_bytes();
        let after = |rest: &[u8]| is_found_after(&[&mark, rest].concat());
        let signature = [&SIGNATURE.to_le_bytes()[..], &[1, 2, 3, 4]].concat();
        assert!(after(&[]));
        assert!(after(&signature));
        assert!(after(&[NO_OPERATION; 16]));
        assert!(after(&[&[NO_OPERATION; 3][..], &signature].concat()));
        assert!(!is_found_after(&signature));
        assert!(!after(&[0xC3]));
        if cfg!(target_arch = "x86_64") {
            assert!(after(&[&[NO_OPERATION; 11][..], &[jump::MOVE, 1, 2, 3, 4]].concat()));
        }
        assert!(!is_instrumented(0) && !is_instrumented(8));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_jump_to_a_function_is_as_good_as_the_function() {
        // A jump at the beginning, and the function 32 bytes after it.
        let mut memory = [0xCC_u8; 4096];
        let page = memory.as_ptr().align_offset(64);
        let place = memory.as_ptr() as u64 + page as u64;
        memory[page + 24..page + 32].copy_from_slice(&MARK.to_le_bytes());
        memory[page..page + 5].copy_from_slice(&[0xE9, 27, 0, 0, 0]);
        assert!(is_instrumented(place));
        memory[page..page + 9].copy_from_slice(&[0xF3, 0x0F, 0x1E, 0xFA, 0xE9, 23, 0, 0, 0]);
        assert!(is_instrumented(place));
        memory[page..page + 6].copy_from_slice(&[0xFF, 0x25, 42, 0, 0, 0]);
        memory[page + 48..page + 56].copy_from_slice(&(place + 32).to_le_bytes());
        assert!(is_instrumented(place));
        memory[page] = 0xCC;
        assert!(!is_instrumented(place));
    }
}
