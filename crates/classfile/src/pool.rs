//! The constant pool. What is in it stays as it is; new constants come behind.

use std::collections::HashMap;

use crate::Error;
use crate::bytes::{Reader, count, put2, put4};

/// A constant, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    /// No constant: the first place, and the second one of wide numbers.
    None,
    /// Where the text begins and ends.
    Text(usize, usize),
    Class(u16),
    NameAndType(u16, u16),
    /// A field or method: class, name and type.
    Member(u16, u16),
    Integer(i32),
    /// How to call a method: in which way, and which.
    Handle(u8, u16),
    /// A call site or dynamic constant: the number of what makes it, name and type.
    Dynamic(u16, u16),
    Other,
}

/// A field or method that code refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference<'a> {
    /// The class that it is looked for in.
    pub class: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// Its type.
    pub descriptor: &'a [u8],
}

/// The kinds of constants by their numbers in the file.
mod tag {
    pub(super) const TEXT: u8 = 1;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const CLASS: u8 = 7;
    pub(super) const FIELD: u8 = 9;
    pub(super) const METHOD: u8 = 10;
    pub(super) const INTERFACE_METHOD: u8 = 11;
    pub(super) const NAME_AND_TYPE: u8 = 12;
    pub(super) const HANDLE: u8 = 15;
    pub(super) const DYNAMIC: u8 = 17;
    pub(super) const INVOKE_DYNAMIC: u8 = 18;
}

/// The constants of a class.
#[derive(Clone, Debug)]
pub struct Pool {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Constants that were asked for, by kind and content.
    known: HashMap<(u8, u32), u16>,
    texts: HashMap<Vec<u8>, u16>,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { bytes: Vec::new(), entries: vec![Entry::None], known: HashMap::new(), texts: HashMap::new() }
    }
}

impl Pool {
    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Pool, Error> {
        let length = usize::from(from.u2()?);
        let mut pool = Pool::default();
        let begin = *from;
        while pool.entries.len() < length {
            let at = begin.rest.len() - from.rest.len();
            let entry = Pool::take(from, at)?;
            if let (Entry::Text(start, end), Ok(index)) = (entry, u16::try_from(pool.entries.len())) {
                pool.texts.entry(begin.rest[start..end].to_vec()).or_insert(index);
            }
            pool.entries.push(entry);
            if is_wide(begin.rest[at]) {
                pool.entries.push(Entry::None);
            }
        }
        if pool.entries.len() != length.max(1) {
            return Err(Error::Malformed);
        }
        pool.bytes = begin.rest[..begin.rest.len() - from.rest.len()].to_vec();
        Ok(pool)
    }

    fn take(from: &mut Reader<'_>, at: usize) -> Result<Entry, Error> {
        Ok(match from.u1()? {
            tag::TEXT => {
                let length = usize::from(from.u2()?);
                from.take(length)?;
                Entry::Text(at + 3, at + 3 + length)
            }
            tag::INTEGER => Entry::Integer(from.u4()?.cast_signed()),
            tag::CLASS => Entry::Class(from.u2()?),
            tag::FIELD | tag::METHOD | tag::INTERFACE_METHOD => Entry::Member(from.u2()?, from.u2()?),
            tag::NAME_AND_TYPE => Entry::NameAndType(from.u2()?, from.u2()?),
            tag::HANDLE => Entry::Handle(from.u1()?, from.u2()?),
            tag::DYNAMIC | tag::INVOKE_DYNAMIC => Entry::Dynamic(from.u2()?, from.u2()?),
            kind => {
                from.take(length_of(kind)?)?;
                Entry::Other
            }
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        put2(count(self.entries.len(), "the constant pool")?, out);
        out.extend_from_slice(&self.bytes);
        Ok(())
    }

    fn entry(&self, index: u16) -> Entry {
        self.entries.get(usize::from(index)).copied().unwrap_or(Entry::None)
    }

    /// The text at an index; empty if there is none.
    pub fn text(&self, index: u16) -> &[u8] {
        match self.entry(index) {
            Entry::Text(start, end) => self.bytes.get(start..end).unwrap_or_default(),
            _ => b"",
        }
    }

    /// The name of the class at an index; empty if there is none.
    pub fn class_name(&self, index: u16) -> &[u8] {
        match self.entry(index) {
            Entry::Class(name) => self.text(name),
            _ => b"",
        }
    }

    /// The field or method at an index.
    pub fn reference(&self, index: u16) -> Option<Reference<'_>> {
        let Entry::Member(class, what) = self.entry(index) else { return None };
        let (name, descriptor) = self.name_and_type(what)?;
        Some(Reference { class: self.class_name(class), name, descriptor })
    }

    /// Name and type of the dynamic call at an index.
    pub fn dynamic(&self, index: u16) -> Option<(&[u8], &[u8])> {
        let Entry::Dynamic(_, what) = self.entry(index) else { return None };
        self.name_and_type(what)
    }

    /// The method that a handle at an index is for: in which way it is called, and where the method is in the pool.
    pub fn handle(&self, index: u16) -> Option<(u8, u16)> {
        let Entry::Handle(kind, method) = self.entry(index) else { return None };
        Some((kind, method))
    }

    /// The dynamic calls: their indices, and the numbers of what makes them.
    pub fn dynamic_calls(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        (0..).zip(&self.entries).filter_map(|(index, entry)| match entry {
            Entry::Dynamic(maker, _) => Some((index, *maker)),
            _ => None,
        })
    }

    fn name_and_type(&self, index: u16) -> Option<(&[u8], &[u8])> {
        let Entry::NameAndType(name, descriptor) = self.entry(index) else { return None };
        Some((self.text(name), self.text(descriptor)))
    }

    fn add(&mut self, entry: Entry, content: &[u8]) -> Result<u16, Error> {
        let index = count(self.entries.len(), "the constant pool")?;
        // The number of constants has to fit, too.
        if index == u16::MAX {
            return Err(Error::TooLarge("the constant pool"));
        }
        self.bytes.extend_from_slice(content);
        self.entries.push(entry);
        Ok(index)
    }

    /// The index of a text.
    pub fn add_text(&mut self, text: &[u8]) -> Result<u16, Error> {
        if let Some(&index) = self.texts.get(text) {
            return Ok(index);
        }
        let length = count(text.len(), "a text")?;
        let start = self.bytes.len() + 3;
        let mut content = vec![tag::TEXT];
        put2(length, &mut content);
        content.extend_from_slice(text);
        let index = self.add(Entry::Text(start, start + text.len()), &content)?;
        self.texts.insert(text.to_vec(), index);
        Ok(index)
    }

    /// The index of a constant that refers to one or two others.
    fn add_small(&mut self, kind: u8, number: u32, entry: Entry) -> Result<u16, Error> {
        if let Some(&index) = self.known.get(&(kind, number)) {
            return Ok(index);
        }
        let mut content = vec![kind];
        match u16::try_from(number) {
            Ok(short) if kind == tag::CLASS => put2(short, &mut content),
            _ => put4(number, &mut content),
        }
        let index = self.add(entry, &content)?;
        self.known.insert((kind, number), index);
        Ok(index)
    }

    /// The index of a class.
    pub fn add_class(&mut self, name: &[u8]) -> Result<u16, Error> {
        let name = self.add_text(name)?;
        self.add_small(tag::CLASS, name.into(), Entry::Class(name))
    }

    /// The index of a number.
    pub fn add_integer(&mut self, number: i32) -> Result<u16, Error> {
        self.add_small(tag::INTEGER, number.cast_unsigned(), Entry::Integer(number))
    }

    fn add_member(&mut self, kind: u8, member: Reference<'_>) -> Result<u16, Error> {
        let class = self.add_class(member.class)?;
        let (name, descriptor) = (self.add_text(member.name)?, self.add_text(member.descriptor)?);
        let what = self.add_small(
            tag::NAME_AND_TYPE,
            u32::from(name) << 16 | u32::from(descriptor),
            Entry::NameAndType(name, descriptor),
        )?;
        self.add_small(kind, u32::from(class) << 16 | u32::from(what), Entry::Member(class, what))
    }

    /// The index of a method of a class.
    pub fn add_method(&mut self, method: Reference<'_>) -> Result<u16, Error> {
        self.add_member(tag::METHOD, method)
    }

    /// The index of a handle for a static method of a class, or of an interface.
    pub fn add_static_handle(&mut self, method: Reference<'_>, of_interface: bool) -> Result<u16, Error> {
        const STATIC: u8 = 6;
        let kind = if of_interface { tag::INTERFACE_METHOD } else { tag::METHOD };
        let method = self.add_member(kind, method)?;
        let mut content = vec![tag::HANDLE, STATIC];
        put2(method, &mut content);
        self.add(Entry::Handle(STATIC, method), &content)
    }

    /// The index of a field.
    pub fn add_field(&mut self, field: Reference<'_>) -> Result<u16, Error> {
        self.add_member(tag::FIELD, field)
    }
}

/// How many bytes follow the kind of a constant that does not matter here.
fn length_of(kind: u8) -> Result<usize, Error> {
    match kind {
        4 => Ok(4),
        5 | 6 => Ok(8),
        8 | 16 | 19 | 20 => Ok(2),
        _ => Err(Error::Malformed),
    }
}

/// Whether constants of this kind take two places.
fn is_wide(kind: u8) -> bool {
    matches!(kind, 5 | 6)
}
