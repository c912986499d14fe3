//! Methods from nothing, for classes so old that they need no frames.

use crate::Error;
use crate::bytes::put2;
use crate::class::{Attribute, Class, Member, access};
use crate::code::Code;
use crate::descriptor;
use crate::opcode;
use crate::pool::{Pool, Reference};

/// The version of a class whose code needs no frames, and may name classes as values.
pub const WITHOUT_FRAMES: u16 = 49;

/// A class without members.
pub fn class(name: &[u8], parent: &[u8], flags: u16) -> Result<Class, Error> {
    let mut pool = Pool::default();
    let (this, parent) = (pool.add_class(name)?, pool.add_class(parent)?);
    Ok(Class {
        minor: 0,
        major: WITHOUT_FRAMES,
        pool,
        access: flags | access::SUPER,
        this,
        parent,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        attributes: Vec::new(),
    })
}

/// A jump whose target is not known yet.
#[derive(Debug)]
#[must_use]
pub struct Jump(usize);

/// Instructions, one after the other.
#[derive(Debug)]
pub struct Assembler<'a> {
    /// The constants of the class.
    pub pool: &'a mut Pool,
    /// What there is so far.
    pub bytes: Vec<u8>,
}

impl<'a> Assembler<'a> {
    /// Code for a class with these constants.
    pub fn new(pool: &'a mut Pool) -> Assembler<'a> {
        Assembler { pool, bytes: Vec::new() }
    }

    /// An instruction without operands.
    pub fn put(&mut self, opcode: u8) {
        self.bytes.push(opcode);
    }

    /// A number.
    pub fn number(&mut self, number: i32) -> Result<(), Error> {
        match i16::try_from(number) {
            Ok(short) => {
                self.put(opcode::SIPUSH);
                put2(short.cast_unsigned(), &mut self.bytes);
            }
            Err(_) => {
                let index = self.pool.add_integer(number)?;
                self.put(opcode::LDC_W);
                put2(index, &mut self.bytes);
            }
        }
        Ok(())
    }

    /// An instruction on a local variable: `ILOAD` to `ALOAD`, `ISTORE` to `ASTORE`.
    pub fn local(&mut self, opcode: u8, index: u16) {
        match u8::try_from(index) {
            Ok(index) => self.bytes.extend_from_slice(&[opcode, index]),
            Err(_) => {
                self.bytes.extend_from_slice(&[opcode::WIDE, opcode]);
                put2(index, &mut self.bytes);
            }
        }
    }

    /// Loads a local variable of this type.
    pub fn load(&mut self, descriptor: &[u8], index: u16) {
        self.local(typed(opcode::ILOAD, descriptor), index);
    }

    /// Stores into a local variable of this type.
    pub fn store(&mut self, descriptor: &[u8], index: u16) {
        self.local(typed(opcode::ISTORE, descriptor), index);
    }

    /// Returns a value of this type, or nothing.
    pub fn give(&mut self, descriptor: &[u8]) {
        let is_void = descriptor.first() == Some(&b'V');
        self.put(if is_void { opcode::RETURN } else { typed(opcode::IRETURN, descriptor) });
    }

    /// Loads parameters, one after the other, from this local variable on. Returns the next one.
    pub fn load_all(&mut self, parameters: &[&[u8]], mut from: u16) -> u16 {
        for parameter in parameters {
            self.load(parameter, from);
            from += descriptor::places(parameter);
        }
        from
    }

    /// Calls a method.
    pub fn call(&mut self, opcode: u8, class: &[u8], name: &[u8], descriptor: &[u8]) -> Result<(), Error> {
        let index = self.pool.add_method(Reference { class, name, descriptor })?;
        self.put(opcode);
        put2(index, &mut self.bytes);
        Ok(())
    }

    /// Reads or writes a field.
    pub fn field(&mut self, opcode: u8, class: &[u8], name: &[u8], descriptor: &[u8]) -> Result<(), Error> {
        let index = self.pool.add_field(Reference { class, name, descriptor })?;
        self.put(opcode);
        put2(index, &mut self.bytes);
        Ok(())
    }

    /// A class as a value.
    pub fn class(&mut self, name: &[u8]) -> Result<(), Error> {
        let index = self.pool.add_class(name)?;
        self.put(opcode::LDC_W);
        put2(index, &mut self.bytes);
        Ok(())
    }

    /// A jump to a place further on.
    pub fn jump(&mut self, opcode: u8) -> Jump {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[opcode, 0, 0]);
        Jump(at)
    }

    /// That place is here.
    pub fn land(&mut self, jump: &Jump) {
        let distance = u16::try_from(self.bytes.len() - jump.0).unwrap_or(0);
        if let Some(offset) = self.bytes.get_mut(jump.0 + 1..jump.0 + 3) {
            offset.copy_from_slice(&distance.to_be_bytes());
        }
    }
}

/// The form of an instruction for a type: they stand in the order `int`, `long`, `float`, `double`, reference.
fn typed(for_int: u8, descriptor: &[u8]) -> u8 {
    for_int
        + match descriptor.first() {
            Some(b'J') => 1,
            Some(b'F') => 2,
            Some(b'D') => 3,
            Some(b'L' | b'[') => 4,
            _ => 0,
        }
}

/// Adds a method with this code; a native one if there is none.
pub fn add_method(
    class: &mut Class,
    flags: u16,
    (name, descriptor): (&[u8], &[u8]),
    code: Option<(Vec<u8>, u16, u16)>,
) -> Result<(), Error> {
    let (name, descriptor) = (class.pool.add_text(name)?, class.pool.add_text(descriptor)?);
    let mut attributes = Vec::new();
    let is_native = code.is_none();
    if let Some((bytes, max_stack, max_locals)) = code {
        let content = Code { max_stack, max_locals, bytes, ..Code::default() }.write()?;
        attributes.push(Attribute { name: class.pool.add_text(b"Code")?, content });
    }
    let access = if is_native { flags | access::NATIVE } else { flags };
    class.methods.push(Member { access, name, descriptor, attributes });
    Ok(())
}

/// Adds the attribute that holds an index of a text, such as the name of the source file.
pub fn add_source(class: &mut Class, file: &[u8]) -> Result<(), Error> {
    let (name, file) = (class.pool.add_text(b"SourceFile")?, class.pool.add_text(file)?);
    let mut content = Vec::new();
    put2(file, &mut content);
    class.attributes.push(Attribute { name, content });
    Ok(())
}
