//! Where the mark of an instrumented function is, see [`MARK`].
//!
//! It stands right before the first instruction, unless the compiler has put more in between: what checks of calls by
//! pointer look at, or room for patches. And an address may be that of a jump to the function: an entry of a table
//! that such checks, or the linker, have made.

use crate::hook::MARK;

/// So many jumps are followed.
const MOST_JUMPS: u32 = 4;

/// Whether the function at this address is instrumented. Memory is read eight bytes at a time, where there is any.
pub fn is_at(function: u64, read: impl Fn(u64) -> Option<u64>) -> bool {
    let mut function = function;
    for _ in 0..MOST_JUMPS {
        if is_before(function, &read) {
            return true;
        }
        match jump::target(function, &read) {
            Some(target) => function = target,
            None => return false,
        }
    }
    false
}

/// `-fsanitize=function` puts this before a function, and a number that stands for its type,
const SIGNATURE: [u8; 4] = 0xC105_CAFE_u32.to_le_bytes();
/// `-fsanitize=kcfi` an instruction of so many bytes with such a number,
const KCFI: u64 = 5;
/// and both that and `-fpatchable-function-entry` so many of these, or fewer.
const NO_OPERATION: u8 = 0x90;
const MOST_OPERATIONS: u64 = 256;

const WORD: u64 = size_of::<u64>() as u64;

/// Looks for the mark from the end of what is before the function, over all that the compiler may have put there.
fn is_before(function: u64, read: &impl Fn(u64) -> Option<u64>) -> bool {
    let word = |distance: u64| read(function.checked_sub(distance + WORD)?);
    let byte = |distance: u64| word(distance).map(|word| word.to_le_bytes()[7]);
    let is_marked = |distance: u64| word(distance) == Some(MARK);
    let skip_idle = |start: u64| {
        let is_other = |distance: &u64| byte(*distance) != Some(NO_OPERATION);
        (start..start + MOST_OPERATIONS).find(is_other).unwrap_or(start)
    };
    let has_signature = word(0).is_some_and(|word| word.to_le_bytes().starts_with(&SIGNATURE));
    let distance = skip_idle(if has_signature { WORD } else { 0 });
    is_marked(distance)
        || (byte(distance + KCFI - 1) == Some(jump::MOVE) && is_marked(skip_idle(distance + KCFI)))
}

/// Jumps that stand for functions.
#[cfg(target_arch = "x86_64")]
mod jump {
    /// Puts a number into the register `eax`.
    pub(super) const MOVE: u8 = 0xB8;

    /// What may stand in front of the jump: a mark for the processor that one may come here, and a prefix.
    const LANDING: &[u8] = &[0xF3, 0x0F, 0x1E, 0xFA];
    const BOUNDED: &[u8] = &[0xF2];
    /// To so many bytes further on, and to what stands so many bytes further on.
    const DIRECT: &[u8] = &[0xE9];
    const INDIRECT: &[u8] = &[0xFF, 0x25];

    /// Where the code at this address jumps to, if it does nothing else.
    pub(super) fn target(address: u64, read: &impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let [first, second] =
            [address, address.checked_add(8)?].map(|place| read(place).map(u64::to_le_bytes));
        let code = [first?, second?].concat();
        let rest = code.strip_prefix(LANDING).unwrap_or(&code);
        let rest = rest.strip_prefix(BOUNDED).unwrap_or(rest);
        let is_direct = rest.starts_with(DIRECT);
        let rest = rest.strip_prefix(DIRECT).or_else(|| rest.strip_prefix(INDIRECT))?;
        let (distance, after) = rest.split_first_chunk::<4>()?;
        let next = address.wrapping_add((code.len() - after.len()) as u64);
        let place = next.wrapping_add_signed(i32::from_le_bytes(*distance).into());
        if is_direct { Some(place) } else { read(place) }
    }
}

/// Jumps that stand for functions: those of other processors are not known, so such a function counts as
/// uninstrumented.
#[cfg(not(target_arch = "x86_64"))]
mod jump {
    pub(super) const MOVE: u8 = 0;

    pub(super) fn target(_: u64, _: &impl Fn(u64) -> Option<u64>) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the bytes of a test are.
    const PLACE: u64 = 0x1000;

    fn reader(memory: &[u8]) -> impl Fn(u64) -> Option<u64> {
        |address| {
            let at = usize::try_from(address.checked_sub(PLACE)?).ok()?;
            memory.get(at..at + 8).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes)
        }
    }

    /// A function that begins after these bytes.
    fn is_found_after(before: &[u8]) -> bool {
        let memory = [before, &[0xC3; 64]].concat();
        is_at(PLACE + before.len() as u64, reader(&memory))
    }

    #[test]
    fn the_mark_is_found_behind_what_the_compiler_puts_in_between() {
        let after = |rest: &[u8]| is_found_after(&[&MARK.to_le_bytes(), rest].concat());
        let signature = [SIGNATURE, [1, 2, 3, 4]].concat();
        assert!(after(&[]));
        assert!(after(&signature));
        assert!(after(&[NO_OPERATION; 16]));
        assert!(after(&[&[NO_OPERATION; 3], signature.as_slice()].concat()));
        assert!(!is_found_after(&signature));
        assert!(!after(&[0xC3]));
        assert!(!is_found_after(&[NO_OPERATION; 600]));
        if cfg!(target_arch = "x86_64") {
            assert!(after(&[&[NO_OPERATION; 11][..], &[jump::MOVE, 1, 2, 3, 4]].concat()));
        }
        assert!(!is_at(0, reader(&[])) && !is_at(8, reader(&[])) && !is_at(u64::MAX, reader(&[])));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_jump_to_a_function_is_as_good_as_the_function() {
        let is_found = |jump: &[u8]| {
            let mut memory = [0xCC_u8; 128];
            memory[24..32].copy_from_slice(&MARK.to_le_bytes());
            memory[64..64 + jump.len()].copy_from_slice(jump);
            memory[96..104].copy_from_slice(&(PLACE + 32).to_le_bytes());
            is_at(PLACE + 64, reader(&memory))
        };
        let back = |length: i32| (32 - 64 - length).to_le_bytes();
        assert!(is_found(&[&[0xE9][..], &back(5)].concat()));
        assert!(is_found(&[&[0xF3, 0x0F, 0x1E, 0xFA, 0xE9][..], &back(9)].concat()));
        assert!(is_found(&[0xFF, 0x25, 26, 0, 0, 0]));
        assert!(is_found(&[0xF3, 0x0F, 0x1E, 0xFA, 0xF2, 0xFF, 0x25, 21, 0, 0, 0]));
        assert!(!is_found(&[0x90, 0xFF, 0x25, 25, 0, 0, 0]));
        // A jump to itself.
        assert!(!is_found(&[0xE9, 0xFB, 0xFF, 0xFF, 0xFF]));
    }
}
