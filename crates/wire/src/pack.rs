//! The records of plain accesses and of decisions, made without branches: a program makes most of its records here.
//!
//! ```text
//! short = 1 w ss V hhh (one byte), site (one byte), address step (2 bytes), value
//! wide  = 0 11 w ss A V (one byte), site step (2 bytes), address step (4 bytes, or 5 if A), value
//! enter = 0 1011 hhh (one byte), site (one byte)
//! ```
//!
//! `w`: it writes; `ss`: the logarithm of its size; `V`: the value has as many bytes as the access, not one. All
//! numbers are little-endian, steps are signed. What does not fit in here is written as any other record.
//!
//! Sites fall into *segments*. A short record, and that of a call, tells where in its segment the site is, `hhh`
//! being the highest bits: which segment that is tells the last record of an access that is not short. So nearly all
//! of a short record is known when the program is compiled; instrumented code writes them itself, see
//! [`crate::hook::front`].

use crate::Malformed;
use crate::record::{Context, Record, kind};
use crate::varint::step;

const PACKED: u8 = 0x80;
const WIDE: u8 = 0x60;

/// The bit of a short record's first byte that tells that all bytes of the value are there.
pub const FULL: u32 = 1 << 3;
/// A segment has so many sites. Site tables begin with a segment.
pub const SEGMENT: u64 = 1 << 11;
/// The bytes of a short record before the value.
pub const SHORT: usize = 4;

/// The first two bytes of a short record, but for [`FULL`], of an access of `1 << size` bytes.
#[inline(always)]
pub fn head(writes: bool, size: u32, site: u64) -> u32 {
    let site = (site % SEGMENT) as u32;
    u32::from(PACKED) | u32::from(writes) << 6 | size << 4 | site >> 8 | (site & 0xFF) << 8
}

/// The two bytes of a record of a call in the segment of the context.
#[inline(always)]
pub fn enter_head(site: u64) -> u16 {
    let site = (site % SEGMENT) as u16;
    u16::from(kind::SHORT_ENTER) | site >> 8 | site << 8
}

/// The one byte of the record that a call has ended.
pub const EXIT_HEAD: u8 = kind::EXIT_ONE;

/// The segment of a site.
#[inline(always)]
pub fn segment(site: u64) -> u64 {
    site & !(SEGMENT - 1)
}

/// A short record: four bytes, and then the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Short {
    /// The first four bytes. Zero bytes follow the value, or these if the record has no more.
    pub first: u32,
    /// How many bytes the record has.
    pub length: usize,
}

/// A record as two numbers, of which the second one follows after so many bytes of the first. Zero bytes follow it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed {
    /// The first eight bytes.
    pub first: u64,
    /// Where `last` stands, which has the bytes that `first` has there, and those after them.
    pub offset: usize,
    /// The bytes from there on.
    pub last: u64,
    /// How many bytes the record has.
    pub length: usize,
}

/// Whether a record of this kind is read by [`Context::unpack`].
pub(crate) fn is_packed(kind: u8) -> bool {
    kind >= WIDE
}

impl Context {
    /// A plain access of `1 << size` bytes, if it is short; the value has nothing above its size.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the caller checks the size first")]
    pub fn short(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) -> Option<Short> {
        let is_here = segment(site) == self.segment;
        let last_addr = self.addr_at(site);
        let step = addr.wrapping_sub(*last_addr).cast_signed();
        if !is_here || step != i64::from(step as i16) {
            return None;
        }
        *last_addr = addr;
        let full = u32::from(value > 0xFF);
        let first = head(writes, size, site) | (FULL * full) | u32::from(step as u16) << 16;
        Some(Short { first, length: SHORT + 1 + ((1 << size) - 1) * full as usize })
    }

    /// A plain access of `1 << size` bytes, if it fits; the value has nothing above its size.
    #[expect(clippy::cast_possible_truncation, reason = "the caller checks the size first")]
    pub fn pack(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) -> Option<Packed> {
        let site_step = site.wrapping_sub(self.site).cast_signed();
        let last_addr = self.addr_at(site);
        let step = addr.wrapping_sub(*last_addr).cast_signed();
        if site_step != i64::from(site_step as i16) || step != step << 24 >> 24 {
            return None;
        }
        *last_addr = addr;
        self.visit(site);
        let far = u32::from(step != i64::from(step as i32));
        let full = u32::from(value > 0xFF);
        let kind = u32::from(WIDE) | u32::from(writes) << 4 | size << 2 | far << 1 | full;
        let step = step.cast_unsigned() & (u64::from(u32::MAX) << (8 * far) | 0xFF);
        let head = u64::from(kind) | u64::from(site_step as u16) << 8 | step << 24;
        let offset = 7 + far;
        let length = offset + (1 << (size * full));
        // An offset of eight would shift too far in one step.
        let first = head | value << (4 * offset) << (4 * offset);
        Some(Packed { first, offset: offset as usize, last: value, length: length as usize })
    }

    /// A decision, if it is short.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the step has seven bits")]
    pub fn short_branch(&mut self, site: u64, by: Option<u64>) -> Option<Short> {
        let (kind, step) = (kind::of_branch(by)?, step(self.site, site));
        if step > 0x7F {
            return None;
        }
        self.site = site;
        Some(Short { first: u32::from(kind) | (step as u32) << 8, length: 2 })
    }

    /// The site in the segment whose highest and lowest bits are these.
    pub(crate) fn in_segment(&self, high: u8, low: u8) -> u64 {
        self.segment | u64::from(high) << 8 | u64::from(low)
    }

    /// The opposite of [`Context::short`] and [`Context::pack`], after the first byte.
    pub(crate) fn unpack<'a>(&mut self, kind: u8, bytes: &mut &'a [u8]) -> Result<Record<'a>, Malformed> {
        let (site, addr_bytes, about) = if kind & PACKED != 0 {
            let (first, rest) = bytes.split_first().ok_or(Malformed)?;
            *bytes = rest;
            (self.in_segment(kind & 7, *first), 2, kind >> 3)
        } else {
            let site = self.site.wrapping_add(signed(bytes, 2)?);
            self.visit(site);
            (site, 4 + usize::from(kind >> 1 & 1), kind >> 1 & !1 | kind & 1)
        };
        let addr = self.addr_at(site).wrapping_add(signed(bytes, addr_bytes)?);
        *self.addr_at(site) = addr;
        // What is left of both kinds: it writes, size, all bytes of the value.
        let size = 1 << (about >> 1 & 3);
        let value = number(bytes, if about & 1 == 0 { 1 } else { usize::from(size) })?;
        Ok(match about & 8 {
            0 => Record::Read { site, addr, size, value },
            _ => Record::Write { site, addr, size, value },
        })
    }
}

fn number(bytes: &mut &[u8], length: usize) -> Result<u64, Malformed> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Malformed)?;
    *bytes = rest;
    Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// A number whose highest bit is its sign.
fn signed(bytes: &mut &[u8], length: usize) -> Result<u64, Malformed> {
    let unused = 64 - 8 * length;
    Ok(((number(bytes, length)? << unused).cast_signed() >> unused).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LONGEST_RECORD;

    /// What the runtime does with them.
    fn place(packed: Packed) -> Vec<u8> {
        let mut out = vec![0; 24];
        out[packed.offset..packed.offset + 8].copy_from_slice(&packed.last.to_le_bytes());
        out[..8].copy_from_slice(&packed.first.to_le_bytes());
        assert!(out.drain(packed.length..).all(|byte| byte == 0), "the next kind is not there yet");
        out
    }

    fn place_short(short: Short, value: u64) -> Vec<u8> {
        let mut out = short.first.to_le_bytes().to_vec();
        out.extend_from_slice(&value.to_le_bytes());
        assert!(out.drain(short.length..).all(|byte| byte == 0), "the next kind is not there yet");
        out
    }

    #[test]
    fn packed_records_come_back_whatever_the_steps() {
        let sites = [0_u64, 1, 127, 128, 40_000, 40_001, 1 << 40, 39_000];
        let addrs =
            [0x7fff_0000_1234_u64, 0x7fff_0000_1230, 0x7ff0_0000_0000, 0x7fff_0001_0000, 0, (1 << 48) - 3];
        let (mut writer, mut reader) = (Context::NEW, Context::NEW);
        let (mut random, mut short, mut long) = (1_u64, 0, 0);
        for round in 0_u64..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
            let pick = |shift: u32, from: &[u64]| {
                from[usize::try_from((random >> shift) % from.len() as u64).unwrap()]
            };
            let size = u32::try_from(random >> 62).unwrap();
            let value = pick(50, &[0, 7, 255, 256, u64::MAX, random]) & (u64::MAX >> (64 - (8 << size)));
            let (site, addr, writes) =
                (pick(20, &sites), pick(30, &addrs) + random % 3, random >> 59 & 1 == 1);
            let (before, bytes) = (writer.clone(), 1 << size);
            let record = match writes {
                true => Record::Write { site, addr, size: bytes, value },
                false => Record::Read { site, addr, size: bytes, value },
            };
            let bytes = if let Some(packed) = writer.short(writes, size, site, addr, value) {
                short += 1;
                place_short(packed, value)
            } else if let Some(packed) = writer.pack(writes, size, site, addr, value) {
                long += 1;
                place(packed)
            } else {
                assert_eq!(writer, before, "what does not fit changes nothing");
                let mut room = [0; LONGEST_RECORD];
                let length = writer.encode(&record, &mut room);
                room[..length].to_vec()
            };
            let mut rest = bytes.as_slice();
            assert_eq!(reader.decode(&mut rest), Ok(record));
            assert!(rest.is_empty());
            for length in 0..bytes.len() {
                assert_eq!(reader.clone().decode(&mut &bytes[..length]), Err(Malformed));
            }
        }
        assert!(short > 1_000 && long > 1_000, "{short} short, {long} long");
    }

    #[test]
    fn decisions_are_two_bytes() {
        let (mut writer, mut reader) = (Context::NEW, Context::NEW);
        for site in [1_u64, 60, 3, 3] {
            let bytes = place_short(writer.short_branch(site, Some(1)).unwrap(), 0);
            assert_eq!(bytes.len(), 2);
            assert_eq!(reader.decode(&mut bytes.as_slice()), Ok(Record::Branch { site, by: Some(1) }));
        }
        assert_eq!(writer.short_branch(1 << 30, None), None);
        assert_eq!(writer.short_branch(1, Some(2)), None);
    }
}
