//! Which values may be references or handles of threads, so that computing with them may fail.
//!
//! Found out from all assignments of the program, as if they could happen in any order.

use rustc_hash::{FxHashMap, FxHashSet};

/// Something that keeps a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ValueHolder<'s> {
    /// A shared variable; all elements of an array are one place.
    Shared(usize),
    /// A field of any cell.
    Field(&'s str),
    /// A local variable of a function.
    Local { function: usize, slot: u16 },
    /// What a function returns.
    Result(usize),
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin<'s> {
    /// It was computed, so it is a number.
    Number,
    /// It is new.
    Reference,
    /// From there.
    Place(ValueHolder<'s>),
}

/// Where references may get to.
#[derive(Default)]
pub(crate) struct References<'s> {
    flows: FxHashMap<ValueHolder<'s>, Vec<ValueHolder<'s>>>,
    /// Places that a new reference gets to directly.
    sources: Vec<ValueHolder<'s>>,
}

impl<'s> References<'s> {
    /// A value is assigned.
    pub(crate) fn flow(&mut self, from: Origin<'s>, to: ValueHolder<'s>) {
        match from {
            Origin::Number => {}
            Origin::Reference => self.sources.push(to),
            Origin::Place(from) => self.flows.entry(from).or_default().push(to),
        }
    }

    /// All places that may hold a reference.
    pub(crate) fn places(mut self) -> FxHashSet<ValueHolder<'s>> {
        let mut reached = FxHashSet::default();
        let mut open = self.sources;
        while let Some(place) = open.pop() {
            if reached.insert(place) {
                open.extend(self.flows.remove(&place).unwrap_or_default());
            }
        }
        reached
    }
}
