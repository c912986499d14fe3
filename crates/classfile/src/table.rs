//! Tables that describe code by its places.

use crate::Error;
use crate::bytes::{Reader, count, put2};
use crate::layout::Layout;

const CODE: &str = "the code of a method";

/// The content of an attribute of code with its new places.
pub(crate) fn moved(name: &[u8], content: &[u8], layout: &Layout) -> Result<Vec<u8>, Error> {
    let mut mover = Mover { from: Reader::new(content), out: Vec::new(), layout };
    match name {
        b"LineNumberTable" => mover.lines()?,
        b"LocalVariableTable" | b"LocalVariableTypeTable" => mover.variables()?,
        b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => mover.annotations()?,
        _ => return Ok(content.to_vec()),
    }
    mover.out.extend_from_slice(mover.from.rest);
    Ok(mover.out)
}

struct Mover<'a> {
    from: Reader<'a>,
    out: Vec<u8>,
    layout: &'a Layout,
}

impl Mover<'_> {
    fn lines(&mut self) -> Result<(), Error> {
        for _ in 0..self.copy_u2()? {
            self.place()?;
            self.copy(2)?;
        }
        Ok(())
    }

    fn variables(&mut self) -> Result<(), Error> {
        for _ in 0..self.copy_u2()? {
            self.range()?;
            self.copy(6)?;
        }
        Ok(())
    }

    fn annotations(&mut self) -> Result<(), Error> {
        for _ in 0..self.copy_u2()? {
            self.target()?;
            let steps = self.copy_u1()?;
            self.copy(2 * usize::from(steps))?;
            self.annotation(0)?;
        }
        Ok(())
    }

    /// What an annotation is at.
    fn target(&mut self) -> Result<(), Error> {
        match self.copy_u1()? {
            0x00 | 0x01 | 0x16 => self.copy(1),
            0x10..=0x12 | 0x17 | 0x42 => self.copy(2),
            0x13..=0x15 => Ok(()),
            0x40 | 0x41 => {
                for _ in 0..self.copy_u2()? {
                    self.range()?;
                    self.copy(2)?;
                }
                Ok(())
            }
            0x43..=0x46 => self.instruction(),
            0x47..=0x4B => {
                self.instruction()?;
                self.copy(1)
            }
            _ => Err(Error::Malformed),
        }
    }

    fn annotation(&mut self, depth: u32) -> Result<(), Error> {
        self.copy(2)?;
        for _ in 0..self.copy_u2()? {
            self.copy(2)?;
            self.value(depth + 1)?;
        }
        Ok(())
    }

    fn value(&mut self, depth: u32) -> Result<(), Error> {
        const DEEPEST: u32 = 64;
        if depth > DEEPEST {
            return Err(Error::Malformed);
        }
        match self.copy_u1()? {
            b'e' => self.copy(4),
            b'@' => self.annotation(depth + 1),
            b'[' => {
                for _ in 0..self.copy_u2()? {
                    self.value(depth + 1)?;
                }
                Ok(())
            }
            _ => self.copy(2),
        }
    }

    /// A place that code can be entered at.
    fn place(&mut self) -> Result<usize, Error> {
        let old = self.from.u2()?;
        let new = self.layout.start(old.into())?;
        put2(count(new, CODE)?, &mut self.out);
        Ok(new)
    }

    /// A place of an instruction itself.
    fn instruction(&mut self) -> Result<(), Error> {
        let new = self.layout.itself(self.from.u2()?.into())?;
        put2(count(new, CODE)?, &mut self.out);
        Ok(())
    }

    /// A place and how many bytes from there on.
    fn range(&mut self) -> Result<(), Error> {
        let (start, length) = (usize::from(self.from.u2()?), usize::from(self.from.u2()?));
        let (begin, end) = (self.layout.start(start)?, self.layout.start(start + length)?);
        put2(count(begin, CODE)?, &mut self.out);
        put2(count(end.checked_sub(begin).ok_or(Error::Malformed)?, CODE)?, &mut self.out);
        Ok(())
    }

    fn copy(&mut self, length: usize) -> Result<(), Error> {
        let taken = self.from.take(length)?;
        self.out.extend_from_slice(taken);
        Ok(())
    }

    fn copy_u1(&mut self) -> Result<u8, Error> {
        let number = self.from.u1()?;
        self.out.push(number);
        Ok(number)
    }

    fn copy_u2(&mut self) -> Result<u16, Error> {
        let number = self.from.u2()?;
        put2(number, &mut self.out);
        Ok(number)
    }
}
