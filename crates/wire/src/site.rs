//! Where in the source each hook stands: a table that every instrumented module carries in its own data, followed by
//! its code ([`crate::code`]).
//!
//! A hook gets its site as the address of the byte at the site's index in the encoded table. That costs the
//! program no arithmetic, and an address names module and site at once. The table has at least one byte for each
//! site.

use crate::Malformed;
use crate::code::CodePosition;
use crate::varint::{follow, push, step, take};

/// The place of one hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Position in [`SiteTable::texts`] of the file.
    pub file: u32,
    /// Position in [`SiteTable::texts`] of the function, as the linker knows it.
    pub function: u32,
    /// Line, from 1 on; 0 if the compiler does not know.
    pub line: u32,
    /// Column, from 1 on; 0 if the compiler does not know.
    pub column: u32,
    /// The site of the call that had been inlined here before the pass ran, if there was one. It stands before this
    /// one.
    pub caller: Option<u32>,
    /// The instruction that the hook stands for, unless the site is only a place.
    pub position: Option<CodePosition>,
    /// Of a plain access: what the thread has read before decides that it comes here. No record tells that.
    pub is_decided: bool,
    /// Of a plain access: the site of a decision that always follows, before anything else is recorded. No record
    /// tells that.
    pub decides: Option<u32>,
    /// A thread that comes here leaves a record of it, each time. Of a call: unless the callee is instrumented.
    pub is_told: bool,
    /// Of a call: it hands something over that no record tells of, a structure by value or its own place in the
    /// stack.
    pub is_hidden: bool,
}

/// How many of the lowest bits of a site's last number are no number.
const FLAGS: u32 = 3;

impl Site {
    /// The numbers of a site, as steps from those of the one before: neighbours have much in common.
    fn numbers(&self) -> [u32; 8] {
        let (caller, position) = (self.caller.map_or(0, |caller| caller + 1), self.position);
        let [function, instruction] =
            position.map_or([0, 0], |position| [position.function + 1, position.instruction]);
        let flags = [self.is_decided, self.is_told, self.is_hidden];
        let flags = flags.into_iter().rev().fold(0, |all, flag| all << 1 | u32::from(flag));
        let decisions = flags | self.decides.map_or(0, |site| site + 1) << FLAGS;
        [self.file, self.function, self.line, self.column, caller, function, instruction, decisions]
    }

    fn from_numbers([file, name, line, column, caller, function, instruction, decisions]: [u32; 8]) -> Site {
        Site {
            file,
            function: name,
            line,
            column,
            caller: caller.checked_sub(1),
            position: function.checked_sub(1).map(|function| CodePosition { function, instruction }),
            is_decided: decisions & 1 == 1,
            decides: (decisions >> FLAGS).checked_sub(1),
            is_told: decisions & 2 != 0,
            is_hidden: decisions & 4 != 0,
        }
    }

    /// First which numbers differ from those of the site before, then by how much.
    fn encode(&self, last: &Site, out: &mut Vec<u8>) {
        let pairs = last.numbers().into_iter().zip(self.numbers());
        let differs = (0..).zip(pairs.clone()).map(|(bit, (last, next))| u8::from(last != next) << bit);
        out.push(differs.sum());
        for (last, next) in pairs.filter(|(last, next)| last != next) {
            push(step(u64::from(last), u64::from(next)), out);
        }
    }

    fn decode(last: &Site, bytes: &mut &[u8]) -> Result<Site, Malformed> {
        let (&differs, rest) = bytes.split_first().ok_or(Malformed)?;
        *bytes = rest;
        let mut numbers = last.numbers();
        for (bit, number) in (0..).zip(&mut numbers) {
            if differs & 1 << bit != 0 {
                let next = follow(u64::from(*number), take(bytes)?);
                *number = u32::try_from(next).map_err(|_| Malformed)?;
            }
        }
        Ok(Site::from_numbers(numbers))
    }
}

/// A variable with an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Global {
    /// Position in [`SiteTable::texts`] of the name.
    pub name: u32,
    /// Size in bytes.
    pub size: u64,
}

/// What debug information tells of the memory that is accessed at a site, or of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Described {
    /// Which of the sites, or of the variables.
    pub index: u32,
    /// Whether it is one of the variables.
    pub is_global: bool,
    /// Position in [`SiteTable::texts`] of the [`crate::layout`] of what is accessed there.
    pub layout: u32,
    /// Where in that the access is.
    pub offset: u64,
    /// Position in [`SiteTable::texts`] of the function and the local variable that it is, if it is one: `main::total`.
    pub local: Option<u32>,
}

/// The language that a module was written in, as far as its rules for atomics go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum SourceLanguage {
    /// C, or unknown.
    #[default]
    Other = 0,
    /// C++.
    Cpp = 1,
    /// Rust.
    Rust = 2,
    /// Java, and whatever else becomes Java's bytecode.
    Java = 3,
}

impl SourceLanguage {
    fn from_code(code: u64) -> Result<SourceLanguage, Malformed> {
        match code {
            0 => Ok(SourceLanguage::Other),
            1 => Ok(SourceLanguage::Cpp),
            2 => Ok(SourceLanguage::Rust),
            3 => Ok(SourceLanguage::Java),
            _ => Err(Malformed),
        }
    }

    /// Whether a store leaves the release sequences that its own thread heads as they are: so it is in C11 and C17.
    pub fn stores_continue_sequences(self) -> bool {
        self == SourceLanguage::Other
    }

    /// Whether atomic accesses of different sizes race, unless both read. C and C++ do not have these at all: who
    /// makes them there relies on more than the language.
    pub fn mixed_sizes_race(self) -> bool {
        self == SourceLanguage::Rust
    }
}

/// What stands before and after the name of a function, in the texts of a module that calls it by a model of the user.
pub const MODEL_OF_USER: [&str; 2] = ["foretell: model of the user: ", ";"];

/// What a module tells about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SiteTable {
    /// What it was written in.
    pub language: SourceLanguage,
    /// File, function and variable names.
    pub texts: Vec<String>,
    /// The places of the hooks.
    pub sites: Vec<Site>,
    /// The module's variables, in the order in which it lists their addresses.
    pub globals: Vec<Global>,
    /// What debug information tells of the memory at sites and of variables.
    pub described: Vec<Described>,
}

impl SiteTable {
    /// The table as bytes, at least one for each site.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push(u64::from(self.language as u8), &mut out);
        push(self.texts.len() as u64, &mut out);
        for text in &self.texts {
            push(text.len() as u64, &mut out);
            out.extend_from_slice(text.as_bytes());
        }
        push(self.sites.len() as u64, &mut out);
        let mut last = &Site::default();
        for site in &self.sites {
            site.encode(last, &mut out);
            last = site;
        }
        push(self.globals.len() as u64, &mut out);
        for global in &self.globals {
            push(u64::from(global.name), &mut out);
            push(global.size, &mut out);
        }
        push(self.described.len() as u64, &mut out);
        for described in &self.described {
            push(u64::from(described.index) << 1 | u64::from(described.is_global), &mut out);
            push(u64::from(described.layout), &mut out);
            push(described.offset, &mut out);
            push(described.local.map_or(0, |local| u64::from(local) + 1), &mut out);
        }
        out
    }

    /// The table behind the bytes, without the code that may follow.
    pub fn decode(mut bytes: &[u8]) -> Result<SiteTable, Malformed> {
        SiteTable::take(&mut bytes)
    }

    /// What the module behind the bytes was written in. Allocates nothing.
    pub fn language_of(mut bytes: &[u8]) -> Result<SourceLanguage, Malformed> {
        SourceLanguage::from_code(take(&mut bytes)?)
    }

    /// Takes the table from the beginning of the bytes.
    pub(crate) fn take(bytes: &mut &[u8]) -> Result<SiteTable, Malformed> {
        let mut table =
            SiteTable { language: SourceLanguage::from_code(take(bytes)?)?, ..SiteTable::default() };
        for _ in 0..take(bytes)? {
            let length = usize::try_from(take(bytes)?).map_err(|_| Malformed)?;
            let (text, rest) = bytes.split_at_checked(length).ok_or(Malformed)?;
            table.texts.push(String::from_utf8_lossy(text).into_owned());
            *bytes = rest;
        }
        let mut last = Site::default();
        for index in 0..take(bytes)? {
            last = Site::decode(&last, bytes)?;
            if last.caller.is_some_and(|caller| u64::from(caller) >= index) {
                return Err(Malformed);
            }
            table.sites.push(last);
        }
        for _ in 0..take(bytes)? {
            table.globals.push(Global { name: small(bytes)?, size: take(bytes)? });
        }
        for _ in 0..take(bytes)? {
            let of = take(bytes)?;
            table.described.push(Described {
                index: u32::try_from(of >> 1).map_err(|_| Malformed)?,
                is_global: of & 1 == 1,
                layout: small(bytes)?,
                offset: take(bytes)?,
                local: small(bytes)?.checked_sub(1),
            });
        }
        Ok(table)
    }

    /// The text at a position, empty if there is none.
    pub fn text(&self, position: u32) -> &str {
        self.texts.get(position as usize).map_or("", String::as_str)
    }
}

pub(crate) fn small(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    u32::try_from(take(bytes)?).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_back_and_have_a_byte_for_each_site() {
        let table = SiteTable {
            language: SourceLanguage::Rust,
            texts: vec!["bank.c".to_string(), "main".to_string(), "balance".to_string()],
            sites: (0..9_u32)
                .map(|index| {
                    let caller = index.checked_sub(1);
                    let position = caller.map(|function| CodePosition { function, instruction: 7 * index });
                    let (is_decided, decides) = (index % 2 == 1, position.map(|_| 9 - index));
                    let column = 7 + index % 3;
                    let (is_told, is_hidden) = (index % 3 == 1, index % 5 == 2);
                    Site {
                        file: 0,
                        function: 1,
                        line: 300,
                        column,
                        caller,
                        position,
                        is_decided,
                        decides,
                        is_told,
                        is_hidden,
                    }
                })
                .collect(),
            globals: vec![Global { name: 2, size: 4 }],
            described: vec![
                Described { index: 3, is_global: false, layout: 1, offset: 300, local: Some(0) },
                Described { index: 0, is_global: true, layout: 2, offset: 0, local: None },
            ],
        };
        let bytes = table.encode();
        assert!(bytes.len() >= table.sites.len());
        assert_eq!(SiteTable::decode(&bytes), Ok(table.clone()));
        for length in 0..bytes.len() {
            assert_eq!(SiteTable::decode(&bytes[..length]), Err(Malformed));
        }
        let circle = SiteTable { sites: vec![Site { caller: Some(0), ..table.sites[0] }], ..table };
        assert_eq!(SiteTable::decode(&circle.encode()), Err(Malformed));
    }
}
