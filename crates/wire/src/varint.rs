//! Numbers in as few bytes as they need: LEB128, seven bits a byte, the lowest first.

use crate::Malformed;

/// The most bytes that a number takes.
pub const LONGEST: usize = 10;

/// Writes `number` at the beginning of `out`, which has room for [`LONGEST`] bytes; returns how many were written.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "seven bits at a time are what is wanted")]
pub fn put(mut number: u64, out: &mut [u8]) -> usize {
    let mut length = 0;
    while number >= 0x80 {
        out[length] = number as u8 | 0x80;
        number >>= 7;
        length += 1;
    }
    out[length] = number as u8;
    length + 1
}

/// Appends `number`.
pub fn push(number: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; LONGEST];
    let length = put(number, &mut bytes);
    out.extend_from_slice(&bytes[..length]);
}

/// Takes a number from the beginning of `bytes`.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first().ok_or(Malformed)?;
        *bytes = rest;
        if shift > 63 || (shift == 63 && byte > 1) {
            return Err(Malformed);
        }
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
        shift += 7;
    }
}

/// The step from one number to another, such that short steps in both directions are small numbers.
#[inline]
pub fn step(from: u64, to: u64) -> u64 {
    let difference = to.wrapping_sub(from).cast_signed();
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

/// Where a step leads.
#[inline]
pub fn follow(from: u64, step: u64) -> u64 {
    let difference = (step >> 1) ^ (step & 1).wrapping_neg();
    from.wrapping_add(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            push(number, &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!(take(&mut rest), Ok(number));
            assert!(rest.is_empty());
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), Err(Malformed));
        }
        assert_eq!(take(&mut [0xFF; 10].as_slice()), Err(Malformed));
    }

    #[test]
    fn steps_lead_where_they_should_and_short_ones_are_small() {
        for (from, to) in [(0, 0), (5, 3), (3, 5), (0, u64::MAX), (u64::MAX, 0), (1 << 63, 1)] {
            assert_eq!(follow(from, step(from, to)), to);
        }
        assert!(step(1000, 998) < 8 && step(998, 1000) < 8);
    }
}
