//! A class with its fields, methods and attributes.

use crate::Error;
use crate::bytes::{Reader, count, put_counted, put2, put4};
use crate::pool::Pool;

const MAGIC: u32 = 0xCAFE_BABE;

/// Flags of classes, fields and methods.
pub mod access {
    /// All classes may use it.
    pub const PUBLIC: u16 = 0x0001;
    /// Only its class may use it.
    pub const PRIVATE: u16 = 0x0002;
    /// It belongs to the class, not to its objects.
    pub const STATIC: u16 = 0x0008;
    /// It does not change, or is not overridden.
    pub const FINAL: u16 = 0x0010;
    /// A method holds the monitor of its object or class.
    pub const SYNCHRONIZED: u16 = 0x0020;
    /// The same bit in classes.
    pub const SUPER: u16 = 0x0020;
    /// A field that threads communicate by.
    pub const VOLATILE: u16 = 0x0040;
    /// A field that is not serialized.
    pub const TRANSIENT: u16 = 0x0080;
    /// A method in machine code.
    pub const NATIVE: u16 = 0x0100;
    /// No class, but an interface.
    pub const INTERFACE: u16 = 0x0200;
    /// A method without code.
    pub const ABSTRACT: u16 = 0x0400;
    /// Not in the source.
    pub const SYNTHETIC: u16 = 0x1000;
    /// No class at all, but a module.
    pub const MODULE: u16 = 0x8000;
}

/// An attribute: the index of its name, and its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// The index of its name in the pool.
    pub name: u16,
    /// What it holds.
    pub content: Vec<u8>,
}

/// A field or a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its flags.
    pub access: u16,
    /// The index of its name.
    pub name: u16,
    /// The index of its type.
    pub descriptor: u16,
    /// Its attributes, among them the code.
    pub attributes: Vec<Attribute>,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// The lower half of the version.
    pub minor: u16,
    /// The version: 52 is that of Java 8, 61 that of Java 17.
    pub major: u16,
    /// Its constants.
    pub pool: Pool,
    /// Its flags.
    pub access: u16,
    /// The index of its name.
    pub this: u16,
    /// The index of the class that it extends; 0 for `Object`.
    pub parent: u16,
    /// The indices of its interfaces.
    pub interfaces: Vec<u16>,
    /// Its fields.
    pub fields: Vec<Member>,
    /// Its methods.
    pub methods: Vec<Member>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

impl Class {
    /// Reads a class file.
    pub fn read(bytes: &[u8]) -> Result<Class, Error> {
        let mut from = Reader::new(bytes);
        if from.u4()? != MAGIC {
            return Err(Error::Malformed);
        }
        let (minor, major) = (from.u2()?, from.u2()?);
        let pool = Pool::read(&mut from)?;
        let (access, this, parent) = (from.u2()?, from.u2()?, from.u2()?);
        let interfaces = (0..from.u2()?).map(|_| from.u2()).collect::<Result<_, _>>()?;
        let (fields, methods) = (members(&mut from)?, members(&mut from)?);
        let attributes = read_attributes(&mut from)?;
        if !from.rest.is_empty() {
            return Err(Error::Malformed);
        }
        Ok(Class { minor, major, pool, access, this, parent, interfaces, fields, methods, attributes })
    }

    /// Writes it.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        put4(MAGIC, &mut out);
        put2(self.minor, &mut out);
        put2(self.major, &mut out);
        self.pool.write(&mut out)?;
        for number in [self.access, self.this, self.parent] {
            put2(number, &mut out);
        }
        put2(count(self.interfaces.len(), "the list of interfaces")?, &mut out);
        self.interfaces.iter().for_each(|&index| put2(index, &mut out));
        write_members(&self.fields, &mut out)?;
        write_members(&self.methods, &mut out)?;
        write_attributes(&self.attributes, &mut out)?;
        Ok(out)
    }

    /// Its name, as code writes it: `java/lang/Object`.
    pub fn name(&self) -> &[u8] {
        self.pool.class_name(self.this)
    }

    /// The name of the class that it extends; empty for `Object`.
    pub fn parent_name(&self) -> &[u8] {
        self.pool.class_name(self.parent)
    }

    /// The content of the first attribute with this name.
    pub fn attribute<'a>(&self, attributes: &'a [Attribute], name: &[u8]) -> Option<&'a [u8]> {
        let found = attributes.iter().find(|attribute| self.pool.text(attribute.name) == name);
        found.map(|attribute| attribute.content.as_slice())
    }

    /// The file that it was compiled from; empty if that is not known.
    pub fn source_file(&self) -> &[u8] {
        let index = self.attribute(&self.attributes, b"SourceFile").and_then(|content| content.first_chunk());
        index.map_or(b"", |&index| self.pool.text(u16::from_be_bytes(index)))
    }

    /// Adds a field without a value of its own.
    pub fn add_field(&mut self, access: u16, name: &[u8], descriptor: &[u8]) -> Result<(), Error> {
        let (name, descriptor) = (self.pool.add_text(name)?, self.pool.add_text(descriptor)?);
        self.fields.push(Member { access, name, descriptor, attributes: Vec::new() });
        Ok(())
    }
}

pub(crate) fn read_attributes(from: &mut Reader<'_>) -> Result<Vec<Attribute>, Error> {
    let read = |from: &mut Reader<'_>| Ok(Attribute { name: from.u2()?, content: from.counted()?.to_vec() });
    (0..from.u2()?).map(|_| read(from)).collect()
}

pub(crate) fn write_attributes(attributes: &[Attribute], out: &mut Vec<u8>) -> Result<(), Error> {
    put2(count(attributes.len(), "the list of attributes")?, out);
    for attribute in attributes {
        put2(attribute.name, out);
        put_counted(&attribute.content, out)?;
    }
    Ok(())
}

fn members(from: &mut Reader<'_>) -> Result<Vec<Member>, Error> {
    let read = |from: &mut Reader<'_>| {
        let (access, name, descriptor) = (from.u2()?, from.u2()?, from.u2()?);
        Ok(Member { access, name, descriptor, attributes: read_attributes(from)? })
    };
    (0..from.u2()?).map(|_| read(from)).collect()
}

fn write_members(members: &[Member], out: &mut Vec<u8>) -> Result<(), Error> {
    put2(count(members.len(), "the list of fields or methods")?, out);
    for member in members {
        for number in [member.access, member.name, member.descriptor] {
            put2(number, out);
        }
        write_attributes(&member.attributes, out)?;
    }
    Ok(())
}
