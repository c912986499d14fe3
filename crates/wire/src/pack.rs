//! The records of plain accesses and of decisions, made without branches: a program makes most of its records here.
//!
//! ```text
//! access = 1 w ss S AA V (one byte), site step, address step, value
//! ```
//!
//! `w`: it writes; `ss`: the logarithm of its size; `S`: the site step has two bytes, not one; `AA`: the address step has 2
//! or 4 bytes, or else the address itself stands there in six; `V`: the value has as many bytes as the access, not one.
//! All numbers are little-endian, steps are signed. What does not fit in here is written as any other record.
//!
//! Of these, the *short* ones have a site step of one byte and an address step of two: so the value always stands in the
//! same place, which makes them quicker still.

use crate::Malformed;
use crate::record::{Context, Record, kind};
use crate::varint::step;

const PACKED: u8 = 0x80;
const WRITES: u8 = 0x40;

/// The bytes of an address that is written as it is.
const WHOLE: u32 = 6;

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
    kind & PACKED != 0
}

impl Context {
    /// A plain access of `1 << size` bytes, if it is short; the value has nothing above its size.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is looked at before")]
    pub fn short(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) -> Option<Short> {
        let site_step = site.wrapping_sub(self.site) as i64;
        let last_addr = self.addr_at(site);
        let step = addr.wrapping_sub(*last_addr) as i64;
        if site_step != i64::from(site_step as i8) || step != i64::from(step as i16) {
            return None;
        }
        *last_addr = addr;
        self.site = site;
        let full = u32::from(value > 0xFF);
        let kind = u32::from(PACKED) | u32::from(writes) << 6 | size << 4 | full;
        let first = kind | u32::from(site_step as u8) << 8 | u32::from(step as u16) << 16;
        Some(Short { first, length: 5 + ((1 << size) - 1) * full as usize })
    }

    /// A plain access of `1 << size` bytes, if it fits; the value has nothing above its size.
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is looked at before")]
    pub fn pack(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) -> Option<Packed> {
        let site_step = site.wrapping_sub(self.site).cast_signed();
        if site_step != i64::from(site_step as i16) || addr >> (8 * WHOLE) != 0 {
            return None;
        }
        let wide_site = u32::from(site_step != i64::from(site_step as i8));
        let before = self.site;
        self.site = site;
        let last_addr = self.last_addr();
        let step = addr.wrapping_sub(*last_addr).cast_signed();
        let (mut class, mut bytes, mut number) = narrow(step);
        if step != i64::from(step as i32) {
            if wide_site != 0 {
                self.site = before;
                return None;
            }
            (class, bytes, number) = (2, WHOLE, addr);
        }
        *last_addr = addr;
        let full = u32::from(value > 0xFF);
        let kind =
            u32::from(PACKED) | u32::from(writes) << 6 | size << 4 | wide_site << 3 | class << 1 | full;
        let head = u64::from(kind) | (site_step.cast_unsigned() & (0xFF_FF >> (8 - 8 * wide_site))) << 8;
        let after_site = 2 + wide_site;
        let head = head | number << (8 * after_site);
        let offset = after_site + bytes;
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

    /// The opposite of [`Context::pack`], after the first byte.
    pub(crate) fn unpack<'a>(&mut self, kind: u8, bytes: &mut &'a [u8]) -> Result<Record<'a>, Malformed> {
        let site_bytes = 1 + usize::from(kind >> 3 & 1);
        self.site = self.site.wrapping_add(signed(bytes, site_bytes)?);
        let addr = match kind >> 1 & 3 {
            class @ 0..2 => self.last_addr().wrapping_add(signed(bytes, 2 << class)?),
            2 => number(bytes, WHOLE as usize)?,
            _ => return Err(Malformed),
        };
        *self.last_addr() = addr;
        let size = 1 << (kind >> 4 & 3);
        let value = number(bytes, if kind & 1 == 0 { 1 } else { usize::from(size) })?;
        let site = self.site;
        Ok(match kind & WRITES {
            0 => Record::Read { site, addr, size, value },
            _ => Record::Write { site, addr, size, value },
        })
    }
}

/// The class, the length and the bytes of a step that needs at most four.
#[expect(clippy::cast_possible_truncation, reason = "whether it fits is the question")]
fn narrow(step: i64) -> (u32, u32, u64) {
    let class = u32::from(step != i64::from(step as i16));
    let bytes = 2 << class;
    (class, bytes, step.cast_unsigned() & (u64::from(u32::MAX) >> (32 - 8 * bytes)))
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
            [0x7fff_0000_1234_u64, 0x7fff_0000_1230, 0x5555_0000_0000, 0x5555_0001_0000, 0, (1 << 48) - 3];
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
            let before = writer.clone();
            let bytes = if let Some(packed) = writer.short(writes, size, site, addr, value) {
                short += 1;
                let bytes = place_short(packed, value);
                assert_eq!(
                    before.clone().pack(writes, size, site, addr, value).map(place),
                    Some(bytes.clone())
                );
                bytes
            } else if let Some(packed) = writer.pack(writes, size, site, addr, value) {
                long += 1;
                place(packed)
            } else {
                assert_eq!(writer, before, "what does not fit changes nothing");
                (writer.site, reader.site) = (site, site);
                continue;
            };
            let mut rest = bytes.as_slice();
            let size = 1 << size;
            let expected = match writes {
                true => Record::Write { site, addr, size, value },
                false => Record::Read { site, addr, size, value },
            };
            assert_eq!(reader.decode(&mut rest), Ok(expected));
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
