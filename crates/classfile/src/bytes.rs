//! Big-endian numbers.

use crate::Error;

/// Takes numbers from the beginning of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Error::Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], Error> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Error::Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u1(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u2(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u4(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    /// So many bytes as the number before them says.
    pub(crate) fn counted(&mut self) -> Result<&'a [u8], Error> {
        let length = usize::try_from(self.u4()?).map_err(|_| Error::Malformed)?;
        self.take(length)
    }
}

pub(crate) fn put2(number: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes());
}

pub(crate) fn put4(number: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes());
}

/// A count or an offset, if it fits.
pub(crate) fn count(number: usize, what: &'static str) -> Result<u16, Error> {
    u16::try_from(number).map_err(|_| Error::TooLarge(what))
}

/// Bytes after their number.
pub(crate) fn put_counted(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    put4(u32::try_from(bytes.len()).map_err(|_| Error::TooLarge("an attribute"))?, out);
    out.extend_from_slice(bytes);
    Ok(())
}

/// The number of two bytes at a place.
pub(crate) fn u2_at(bytes: &[u8], at: usize) -> Result<u16, Error> {
    let two = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Error::Malformed)?;
    Ok(u16::from_be_bytes(*two))
}

/// The signed number of four bytes at a place.
pub(crate) fn i4_at(bytes: &[u8], at: usize) -> Result<i32, Error> {
    let four = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Error::Malformed)?;
    Ok(i32::from_be_bytes(*four))
}
