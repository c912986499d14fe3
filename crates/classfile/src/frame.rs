//! What the verifier knows at the targets of jumps: the table `StackMapTable`, with each frame written in full.

use crate::Error;
use crate::bytes::{Reader, count, put2};
use crate::class::access;
use crate::descriptor;
use crate::pool::Pool;

/// What is in a local variable, or on the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Nothing that can be used.
    Top,
    /// `int` and what is shorter.
    Int,
    /// `float`.
    Float,
    /// `double`; takes two places.
    Double,
    /// `long`; takes two places.
    Long,
    /// `null`.
    Null,
    /// The object of a constructor that has not called the one of its parent.
    UninitializedThis,
    /// An object of the class at this index.
    Object(u16),
    /// What the instruction `new` at this place has made, and no constructor has seen.
    Uninitialized(usize),
}

/// What is known at a place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Where.
    pub at: usize,
    /// The local variables, the last ones left out if they hold nothing.
    pub locals: Vec<Kind>,
    /// The stack.
    pub stack: Vec<Kind>,
}

impl Kind {
    fn read(from: &mut Reader<'_>) -> Result<Kind, Error> {
        Ok(match from.u1()? {
            0 => Kind::Top,
            1 => Kind::Int,
            2 => Kind::Float,
            3 => Kind::Double,
            4 => Kind::Long,
            5 => Kind::Null,
            6 => Kind::UninitializedThis,
            7 => Kind::Object(from.u2()?),
            8 => Kind::Uninitialized(from.u2()?.into()),
            _ => return Err(Error::Malformed),
        })
    }

    fn write(self, out: &mut Vec<u8>) -> Result<(), Error> {
        let code = match self {
            Kind::Top => 0,
            Kind::Int => 1,
            Kind::Float => 2,
            Kind::Double => 3,
            Kind::Long => 4,
            Kind::Null => 5,
            Kind::UninitializedThis => 6,
            Kind::Object(_) => 7,
            Kind::Uninitialized(_) => 8,
        };
        out.push(code);
        match self {
            Kind::Object(class) => put2(class, out),
            Kind::Uninitialized(at) => put2(count(at, "the code of a method")?, out),
            _ => {}
        }
        Ok(())
    }

    /// How many places it takes.
    fn places(self) -> u16 {
        if matches!(self, Kind::Long | Kind::Double) { 2 } else { 1 }
    }

    /// What values of this type are.
    pub fn of(descriptor: &[u8], pool: &mut Pool) -> Result<Kind, Error> {
        Ok(match descriptor.first() {
            Some(b'J') => Kind::Long,
            Some(b'D') => Kind::Double,
            Some(b'F') => Kind::Float,
            Some(b'L' | b'[') => Kind::Object(pool.add_class(descriptor::class_of(descriptor))?),
            _ => Kind::Int,
        })
    }
}

impl Frame {
    /// What is known where a method begins.
    pub fn first(flags: u16, this: u16, name: &[u8], of: &[u8], pool: &mut Pool) -> Result<Frame, Error> {
        let mut locals = Vec::new();
        if flags & access::STATIC == 0 {
            let is_made = name != b"<init>";
            locals.push(if is_made { Kind::Object(this) } else { Kind::UninitializedThis });
        }
        for parameter in descriptor::method(of)?.0 {
            locals.push(Kind::of(parameter, pool)?);
        }
        Ok(Frame { at: 0, locals, stack: Vec::new() })
    }

    /// The same with one more local variable, behind so many places.
    pub(crate) fn with_local(mut self, behind: u16, kind: Kind) -> Result<Frame, Error> {
        let taken: u16 = self.locals.iter().map(|kind| kind.places()).sum();
        let free = behind.checked_sub(taken).ok_or(Error::Malformed)?;
        self.locals.extend((0..free).map(|_| Kind::Top));
        self.locals.push(kind);
        Ok(self)
    }
}

/// Reads the frames of a table, given what is known where the method begins.
pub fn read(content: &[u8], first: &Frame) -> Result<Vec<Frame>, Error> {
    let mut from = Reader::new(content);
    let mut frames: Vec<Frame> = Vec::new();
    for _ in 0..from.u2()? {
        let before = frames.last().unwrap_or(first);
        let mut next = Frame { at: 0, locals: before.locals.clone(), stack: Vec::new() };
        let distance = next.take(&mut from)?;
        next.at = if frames.is_empty() { distance } else { before.at + distance + 1 };
        frames.push(next);
    }
    Ok(frames)
}

/// Writes frames, which are in order.
pub fn write(frames: &[Frame], first: &Frame) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    put2(count(frames.len(), "the table of frames")?, &mut out);
    let (mut before, mut next) = (first, 0);
    for frame in frames {
        let distance = frame.at.checked_sub(next).ok_or(Error::Malformed)?;
        frame.put(count(distance, "the code of a method")?, before, &mut out)?;
        (before, next) = (frame, frame.at + 1);
    }
    Ok(out)
}

impl Frame {
    /// Takes what has changed since the frame before; returns how far away that is.
    fn take(&mut self, from: &mut Reader<'_>) -> Result<usize, Error> {
        let form = from.u1()?;
        let distance = match form {
            0..=63 => form.into(),
            64..=127 => {
                self.stack.push(Kind::read(from)?);
                u16::from(form - 64)
            }
            247 => {
                let distance = from.u2()?;
                self.stack.push(Kind::read(from)?);
                distance
            }
            248..=250 => {
                let left = self.locals.len().checked_sub(usize::from(251 - form)).ok_or(Error::Malformed)?;
                self.locals.truncate(left);
                from.u2()?
            }
            251..=254 => {
                let distance = from.u2()?;
                take_all(from, u16::from(form - 251), &mut self.locals)?;
                distance
            }
            255 => {
                let distance = from.u2()?;
                self.locals.clear();
                let locals = from.u2()?;
                take_all(from, locals, &mut self.locals)?;
                let stack = from.u2()?;
                take_all(from, stack, &mut self.stack)?;
                distance
            }
            _ => return Err(Error::Malformed),
        };
        Ok(distance.into())
    }

    /// Writes it in the shortest form.
    fn put(&self, distance: u16, before: &Frame, out: &mut Vec<u8>) -> Result<(), Error> {
        let near = u8::try_from(distance).ok().filter(|&distance| distance < 64);
        match (self.stack.as_slice(), near) {
            ([], Some(near)) if self.locals == before.locals => out.push(near),
            ([one], Some(near)) if self.locals == before.locals => {
                out.push(64 + near);
                one.write(out)?;
            }
            ([one], None) if self.locals == before.locals => {
                out.push(247);
                put2(distance, out);
                one.write(out)?;
            }
            ([], _) if self.put_locals(distance, before, out)? => {}
            _ => {
                out.push(255);
                put2(distance, out);
                put_all(&self.locals, out)?;
                put_all(&self.stack, out)?;
            }
        }
        Ok(())
    }

    /// Writes how the local variables differ, if only up to three at the end do.
    fn put_locals(&self, distance: u16, before: &Frame, out: &mut Vec<u8>) -> Result<bool, Error> {
        let new = self.locals.strip_prefix(before.locals.as_slice());
        let gone = before.locals.strip_prefix(self.locals.as_slice());
        let form = match (new.map(<[Kind]>::len), gone.map(<[Kind]>::len)) {
            (Some(new @ 0..=3), _) => 251 + new,
            (None, Some(gone @ 1..=3)) => 251 - gone,
            _ => return Ok(false),
        };
        out.push(u8::try_from(form).map_err(|_| Error::Malformed)?);
        put2(distance, out);
        new.unwrap_or_default().iter().try_for_each(|kind| kind.write(out))?;
        Ok(true)
    }
}

fn take_all(from: &mut Reader<'_>, number: u16, to: &mut Vec<Kind>) -> Result<(), Error> {
    for _ in 0..number {
        to.push(Kind::read(from)?);
    }
    Ok(())
}

fn put_all(kinds: &[Kind], out: &mut Vec<u8>) -> Result<(), Error> {
    put2(count(kinds.len(), "a frame")?, out);
    kinds.iter().try_for_each(|kind| kind.write(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_in_their_shortest_form() {
        let first = Frame { at: 0, locals: vec![Kind::Object(3)], stack: Vec::new() };
        let more = vec![Kind::Object(3), Kind::Int, Kind::Long];
        let frame = |at, locals: &[Kind], stack: &[Kind]| Frame {
            at,
            locals: locals.to_vec(),
            stack: stack.to_vec(),
        };
        let frames = [
            frame(4, &first.locals, &[]),
            frame(5, &first.locals, &[Kind::Null]),
            frame(105, &more, &[]),
            frame(106, &more, &[Kind::Uninitialized(9)]),
            frame(406, &more, &[Kind::Object(7)]),
            frame(407, &more[..1], &[]),
            frame(900, &more[..1], &[]),
            frame(
                901,
                &[Kind::Top, Kind::Double, Kind::Float, Kind::UninitializedThis],
                &[Kind::Int, Kind::Int],
            ),
        ];
        let bytes = write(&frames, &first).unwrap();
        assert_eq!(read(&bytes, &first).unwrap(), frames);
        let lengths = [1, 2, 5, 4, 6, 3, 3, 13];
        assert_eq!(bytes.len(), 2 + lengths.iter().sum::<usize>());
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length], &first).is_err());
        }
    }
}
