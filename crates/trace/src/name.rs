//! The names of a trace: what its numbers stand for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::marker::PhantomData;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::id::{BarrierId, CondId, Id, LabelId, LockId, SemId, ThreadId, VarId};
use crate::symbol::{Loc, Symbol, SymbolContent, Value};

/// Why a name could not be taken up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NameError {
    /// The bytes are not text.
    #[error("the name is not valid UTF-8")]
    NotUtf8,
    /// More names of one kind than ids, or more than 4 GiB of them.
    #[error("too many different names")]
    TooMany,
}

/// Distinct names, numbered in the order of their first appearance.
#[derive(Clone, Debug)]
pub struct Interner<I> {
    /// All names, one after the other; always valid UTF-8.
    text: String,
    /// Where each name ends in `text`; it begins where the one before it ends.
    ends: Vec<u32>,
    /// Names of up to eight bytes, by their bytes: the common case costs one multiplication and one comparison.
    short: ShortNames,
    /// Longer names, by hash.
    long: HashTable<u32>,
    id: PhantomData<I>,
}

impl<I> Default for Interner<I> {
    fn default() -> Self {
        Interner {
            text: String::new(),
            ends: Vec::new(),
            short: ShortNames::default(),
            long: HashTable::new(),
            id: PhantomData,
        }
    }
}

impl<I: Id> Interner<I> {
    /// The id of `name`, which is a new one if the name was not seen before.
    pub fn intern(&mut self, name: &[u8]) -> Result<I, NameError> {
        let found = match short_key(name) {
            Some(key) => self.short.get(key),
            None => self.find_long(name),
        };
        match found {
            Some(index) => I::from_index(index as usize).ok_or(NameError::TooMany),
            None => self.insert(name),
        }
    }

    /// The id of a name that was seen before and has this key, see [`short_key`].
    #[inline]
    pub(crate) fn known_short(&self, key: u64) -> Option<I> {
        self.short.get(key).and_then(|index| I::from_index(index as usize))
    }

    /// The id of `name` if it was seen before.
    pub fn get(&self, name: &str) -> Option<I> {
        let found = match short_key(name.as_bytes()) {
            Some(key) => self.short.get(key),
            None => self.find_long(name.as_bytes()),
        };
        found.and_then(|index| I::from_index(index as usize))
    }

    /// The name behind an id of this table.
    pub fn name(&self, id: I) -> &str {
        let index = id.index();
        let begin = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[begin..self.ends[index] as usize]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().scan(0, |begin, &end| {
            let name = &self.text[*begin as usize..end as usize];
            *begin = end;
            Some(name)
        })
    }

    fn find_long(&self, name: &[u8]) -> Option<u32> {
        let text = |index: u32| {
            let index = index as usize;
            let begin = if index == 0 { 0 } else { self.ends[index - 1] as usize };
            &self.text.as_bytes()[begin..self.ends[index] as usize]
        };
        self.long.find(hash(name), |&index| text(index) == name).copied()
    }

    #[cold]
    fn insert(&mut self, name: &[u8]) -> Result<I, NameError> {
        let text = std::str::from_utf8(name).map_err(|_| NameError::NotUtf8)?;
        let id = I::from_index(self.ends.len()).ok_or(NameError::TooMany)?;
        let index = u32::try_from(self.ends.len()).map_err(|_| NameError::TooMany)?;
        let end = u32::try_from(self.text.len() + text.len()).map_err(|_| NameError::TooMany)?;
        self.text.push_str(text);
        self.ends.push(end);
        match short_key(name) {
            Some(key) => self.short.insert(key, index),
            None => {
                let (text, ends) = (self.text.as_bytes(), &self.ends);
                let rehash = |&index: &u32| {
                    let index = index as usize;
                    let begin = if index == 0 { 0 } else { ends[index - 1] as usize };
                    hash(&text[begin..ends[index] as usize])
                };
                self.long.insert_unique(hash(name), index, rehash);
            }
        }
        Ok(id)
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The bytes of a name of at most eight bytes as one number. A shorter name is padded with zeros, so a name that holds
/// a zero byte has no key and goes the long way.
fn short_key(name: &[u8]) -> Option<u64> {
    if name.len() > 8 || name.contains(&0) {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[..name.len()].copy_from_slice(name);
    Some(u64::from_le_bytes(bytes))
}

/// A hash table from short names to their index, with open addressing.
#[derive(Clone, Debug, Default)]
struct ShortNames {
    /// Key and index plus one; an index of zero marks a free slot. The length is a power of two or zero.
    slots: Vec<(u64, u32)>,
    used: usize,
}

impl ShortNames {
    #[inline]
    fn get(&self, key: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, index) = self.slots[self.slot_of(key)];
        if index != 0 && found == key { Some(index - 1) } else { None }
    }

    /// `key` must not be in the table yet; `index` is below `u32::MAX`, as every index into a table of names is.
    fn insert(&mut self, key: u64, index: u32) {
        if self.slots.len() < 2 * (self.used + 1) {
            self.grow();
        }
        let slot = self.slot_of(key);
        self.slots[slot] = (key, index + 1);
        self.used += 1;
    }

    /// The slot that holds `key`, or the free one where it would go.
    #[inline]
    fn slot_of(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.slots[slot].1 != 0 && self.slots[slot].0 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0); (2 * self.slots.len()).max(64)];
        for (key, index) in std::mem::replace(&mut self.slots, larger) {
            if index != 0 {
                let slot = self.slot_of(key);
                self.slots[slot] = (key, index);
            }
        }
    }
}

/// The id of a variable's name, whatever its generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct VarName(u32);

impl Id for VarName {
    fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok().map(VarName)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The variables of a trace: a name and a generation each.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    names: Interner<VarName>,
    /// The newest generation of each name.
    newest: Vec<VarId>,
    /// Name and generation of each variable.
    all: Vec<(VarName, u32)>,
}

impl Variables {
    /// The newest generation of the variable with this name.
    pub fn intern(&mut self, name: &[u8]) -> Result<VarId, NameError> {
        let name = self.names.intern(name)?;
        match self.newest.get(name.index()) {
            Some(&var) => Ok(var),
            None => {
                let var = self.push(name, 0)?;
                self.newest.push(var);
                Ok(var)
            }
        }
    }

    /// The newest generation of the variable whose name was seen before and has this key, see [`short_key`].
    #[inline]
    pub(crate) fn known_short(&self, key: u64) -> Option<VarId> {
        self.names.known_short(key).and_then(|name| self.newest.get(name.index()).copied())
    }

    /// A generation of `name` that nothing has touched yet: its memory has been allocated (again).
    pub fn renew(&mut self, name: &[u8]) -> Result<VarId, NameError> {
        let known = self.names.len();
        let newest = self.intern(name)?;
        if self.names.len() > known {
            return Ok(newest);
        }
        let (name, generation) = self.all[newest.index()];
        let var = self.push(name, generation.checked_add(1).ok_or(NameError::TooMany)?)?;
        self.newest[name.index()] = var;
        Ok(var)
    }

    /// The newest generation of the variable with this name, if there is any.
    pub fn get(&self, name: &str) -> Option<VarId> {
        self.names.get(name).map(|name| self.newest[name.index()])
    }

    /// The name of a variable, without its generation.
    pub fn name(&self, var: VarId) -> &str {
        self.names.name(self.all[var.index()].0)
    }

    /// How often the memory of this name had been allocated anew before.
    pub fn generation(&self, var: VarId) -> u32 {
        self.all[var.index()].1
    }

    /// How many variables there are; generations count separately.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is no variable yet.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn push(&mut self, name: VarName, generation: u32) -> Result<VarId, NameError> {
        let var = VarId::from_index(self.all.len()).ok_or(NameError::TooMany)?;
        self.all.push((name, generation));
        Ok(var)
    }
}

/// All names of a trace.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Threads.
    pub threads: Interner<ThreadId>,
    /// Variables with their generations.
    pub vars: Variables,
    /// Mutexes and read-write locks.
    pub locks: Interner<LockId>,
    /// Semaphores.
    pub sems: Interner<SemId>,
    /// Condition variables and monitors' wait sets.
    pub conds: Interner<CondId>,
    /// Barriers.
    pub barriers: Interner<BarrierId>,
    /// Methods and other labels.
    pub labels: Interner<LabelId>,
    symbols: Interner<SymbolIndex>,
    /// What the program calls threads, where it gives them names of their own.
    titles: BTreeMap<usize, String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SymbolIndex(usize);

impl Id for SymbolIndex {
    fn from_index(index: usize) -> Option<Self> {
        Symbol::named(index).map(|_| SymbolIndex(index))
    }

    fn index(self) -> usize {
        self.0
    }
}

impl Names {
    /// What the program calls the thread, if it says so. Several threads may have the same title.
    pub fn title(&self, thread: ThreadId) -> Option<&str> {
        self.titles.get(&thread.index()).map(String::as_str)
    }

    /// The program calls the thread so from now on. Control characters become spaces.
    pub fn set_title(&mut self, thread: ThreadId, title: &str) {
        let title = title.replace(char::is_control, " ");
        match title.trim() {
            "" => self.titles.remove(&thread.index()),
            title => self.titles.insert(thread.index(), title.to_string()),
        };
    }

    /// All threads that have titles, by their names, and their titles.
    pub fn titles(&self) -> impl Iterator<Item = (&str, &str)> {
        let thread = |index: &usize| ThreadId::from_index(*index).map(|thread| self.threads.name(thread));
        self.titles.iter().filter_map(move |(index, title)| Some((thread(index)?, title.as_str())))
    }

    /// The symbol for `text`: a canonical small number is kept as itself, anything else goes to the table.
    pub fn symbol(&mut self, text: &[u8]) -> Result<Symbol, NameError> {
        if let Some(symbol) = canonical_number(text).and_then(Symbol::number) {
            return Ok(symbol);
        }
        let index = self.symbols.intern(text)?.index();
        Symbol::named(index).ok_or(NameError::TooMany)
    }

    /// The location written as `text`.
    pub fn loc(&mut self, text: &[u8]) -> Result<Loc, NameError> {
        self.symbol(text).map(Loc)
    }

    /// The text of a symbol of this trace.
    pub fn symbol_text(&self, symbol: Symbol) -> Cow<'_, str> {
        match symbol.content() {
            SymbolContent::Number(number) => Cow::Owned(number.to_string()),
            SymbolContent::Named(index) => Cow::Borrowed(self.symbols.name(SymbolIndex(index))),
        }
    }

    /// The text of a location.
    pub fn loc_text(&self, loc: Loc) -> Cow<'_, str> {
        self.symbol_text(loc.0)
    }

    /// The text of a value.
    pub fn value_text(&self, value: Value) -> Cow<'_, str> {
        self.symbol_text(value.0)
    }

    /// The number that the value is, modulo 2^64; none if it is no integer of 64 bits, with or without sign.
    pub fn value_number(&self, value: Value) -> Option<u64> {
        let index = match value.0.content() {
            SymbolContent::Number(number) => return Some(number.into()),
            SymbolContent::Named(index) => index,
        };
        let text = self.symbols.name(SymbolIndex(index));
        let unsigned = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        let signed = || text.parse::<i64>().ok().filter(|number| number.to_string() == text);
        unsigned.or_else(|| signed().map(i64::cast_unsigned))
    }

    /// How many texts the symbol table holds.
    pub(crate) fn symbol_count(&self) -> usize {
        self.symbols.len()
    }
}

/// The number that `text` spells without sign, leading zero or anything else around it.
fn canonical_number(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 10 || (text[0] == b'0' && text.len() > 1) {
        return None;
    }
    let mut number: u64 = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    u32::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_spell_numbers_are_numbers() {
        let mut names = Names::default();
        for (text, number) in [
            ("0", Some(0)),
            ("4294967295", Some(4_294_967_295)),
            ("18446744073709551615", Some(u64::MAX)),
            ("-1", Some(u64::MAX)),
            ("-9223372036854775808", Some(1 << 63)),
            ("18446744073709551616", None),
            ("-0", None),
            ("007", None),
            ("+7", None),
            ("cell", None),
        ] {
            let value = Value(names.symbol(text.as_bytes()).unwrap());
            assert_eq!(names.value_number(value), number, "{text}");
        }
    }

    #[test]
    fn names_get_ids_in_order_of_appearance() {
        let mut names = Interner::<LockId>::default();
        let long = "a name that is longer than eight bytes";
        let texts = ["l", "m", long, "", "exactly8", "ninebytes"];
        for (index, text) in texts.iter().enumerate() {
            assert_eq!(names.intern(text.as_bytes()).unwrap().index(), index);
        }
        for (index, text) in texts.iter().enumerate() {
            assert_eq!(names.intern(text.as_bytes()).unwrap().index(), index);
            assert_eq!(names.name(LockId::from_index(index).unwrap()), *text);
            assert_eq!(names.get(text).map(LockId::index), Some(index));
        }
        assert_eq!(names.iter().collect::<Vec<_>>(), texts);
        assert_eq!(names.get("other"), None);
        assert_eq!(names.intern(b"\xff"), Err(NameError::NotUtf8));
    }

    #[test]
    fn many_short_names_stay_apart() {
        let mut names = Interner::<VarId>::default();
        for number in 0..5000 {
            assert_eq!(names.intern(format!("x{number}").as_bytes()).unwrap().index(), number);
        }
        assert_eq!(names.get("x4711").map(VarId::index), Some(4711));
        assert_ne!(names.intern(b"x\0").unwrap(), names.intern(b"x").unwrap());
    }

    #[test]
    fn renewed_memory_is_another_variable_of_the_same_name() {
        let mut vars = Variables::default();
        let first = vars.renew(b"p").unwrap();
        assert_eq!(vars.generation(first), 0);
        assert_eq!(vars.intern(b"p").unwrap(), first);
        let second = vars.renew(b"p").unwrap();
        assert_ne!(first, second);
        assert_eq!(vars.intern(b"p").unwrap(), second);
        assert_eq!((vars.name(second), vars.generation(second)), ("p", 1));
        assert_eq!(vars.get("p"), Some(second));
    }

    #[test]
    fn symbols_read_back_as_they_were_written() {
        let mut names = Names::default();
        for text in ["0", "7", "007", "-1", "bank.c:12", "2147483647", "2147483648", "99999999999", ""] {
            let symbol = names.symbol(text.as_bytes()).unwrap();
            assert_eq!(names.symbol_text(symbol), text);
            assert_eq!(names.symbol(text.as_bytes()).unwrap(), symbol);
        }
    }
}
