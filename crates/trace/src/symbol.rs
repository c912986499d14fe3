//! Locations and values: most are small numbers, some are names.
//!
//! A [`Symbol`] keeps a small natural number as itself and anything else as an index into the symbol table of the
//! trace. A trace whose every line carries its own line number as location therefore costs no table at all, and the
//! readers need no look-up for it.

use std::num::NonZeroU32;

/// A small natural number, or an index into the symbol table of its trace.
///
/// Canonical form: a number below [`Symbol::NUMBERS`] is never stored in the table, so equality of symbols of one trace
/// is equality of what they stand for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(NonZeroU32);

impl Symbol {
    /// Natural numbers below this are kept inline.
    pub const NUMBERS: u32 = 1 << 31;
    /// The number zero.
    pub const ZERO: Symbol = Symbol(NonZeroU32::MIN);

    /// The symbol of a small natural number.
    #[inline]
    pub fn number(number: u32) -> Option<Symbol> {
        if number < Self::NUMBERS { NonZeroU32::new(number + 1).map(Symbol) } else { None }
    }

    /// The symbol at `index` of the table.
    pub(crate) fn named(index: usize) -> Option<Symbol> {
        let index = u32::try_from(index).ok()?;
        Self::NUMBERS.checked_add(index)?.checked_add(1).and_then(NonZeroU32::new).map(Symbol)
    }

    /// All symbols as one range of numbers, names after the natural numbers: what the binary format takes differences
    /// of.
    pub(crate) fn raw(self) -> u32 {
        self.0.get() - 1
    }

    /// What the symbol stands for.
    #[inline]
    pub fn content(self) -> SymbolContent {
        let raw = self.0.get() - 1;
        if raw < Self::NUMBERS {
            SymbolContent::Number(raw)
        } else {
            SymbolContent::Named((raw - Self::NUMBERS) as usize)
        }
    }
}

/// What a [`Symbol`] stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolContent {
    /// The number itself.
    Number(u32),
    /// The position in the symbol table.
    Named(usize),
}

/// Where in the program an event comes from: a number, or text such as `bank.c:12`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Loc(pub Symbol);

/// A value that was read or written. Values are compared, never computed with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub Symbol);

impl Value {
    /// The value of memory that nothing has written yet, unless the trace shows another.
    pub const ZERO: Value = Value(Symbol::ZERO);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_do_not_collide() {
        assert_eq!(Symbol::number(0), Some(Symbol::ZERO));
        let largest = Symbol::number(Symbol::NUMBERS - 1).unwrap();
        assert_eq!(largest.content(), SymbolContent::Number(Symbol::NUMBERS - 1));
        assert_eq!(Symbol::number(Symbol::NUMBERS), None);
        assert_eq!(Symbol::named(0).unwrap().content(), SymbolContent::Named(0));
        assert_ne!(Symbol::named(0).unwrap(), largest);
        assert_eq!(Symbol::named(u32::MAX as usize), None);
    }
}
