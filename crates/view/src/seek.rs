//! Walks through an order of events in search of one. They go a few steps at a time, so that they can be interrupted.

use std::fmt;

use foretell_trace::{Event, Trace};

use crate::order::Order;

/// Which way to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Down, to what happened later.
    Forward,
    /// Up, to what happened earlier.
    Backward,
}

/// What the walk has to say of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Continue.
    On,
    /// This is it.
    Here,
    /// There is none: what was looked for would have come before.
    End,
}

/// How far the walk has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// There is more to look at.
    Going,
    /// Found at this position. Whether the walk went past the end, and on from the other one.
    Found(usize, bool),
    /// There is none.
    Nothing,
}

/// A walk.
pub struct Seek<'a> {
    look: Box<dyn FnMut(&Event) -> Look + 'a>,
    direction: Direction,
    /// The position to look at next.
    next: usize,
    /// How many positions are still to be looked at.
    left: usize,
    /// How many positions there are to be looked at in all.
    all: usize,
    /// Whether to continue from the other end.
    around: bool,
    wrapped: bool,
    what: String,
}

impl fmt::Debug for Seek<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {} ({:?})", self.what, self.next, self.direction)
    }
}

impl<'a> Seek<'a> {
    /// Begins beside the position `from` of an order of `length` events, and ends at the end of it.
    pub fn new(
        what: impl Into<String>,
        direction: Direction,
        from: usize,
        length: usize,
        look: impl FnMut(&Event) -> Look + 'a,
    ) -> Seek<'a> {
        let (next, left) = match direction {
            Direction::Forward => (from.saturating_add(1), length.saturating_sub(from.saturating_add(1))),
            Direction::Backward => (from.wrapping_sub(1), from.min(length)),
        };
        let what = what.into();
        Seek { look: Box::new(look), direction, next, left, all: left, around: false, wrapped: false, what }
    }

    /// Continues from the other end, up to where it began.
    pub fn around(mut self, length: usize) -> Seek<'a> {
        self.around = true;
        self.left = length;
        self.all = length;
        self
    }

    /// What is looked for.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// How much of the way is done, in percent.
    pub fn percent(&self) -> usize {
        (self.all - self.left).saturating_mul(100) / self.all.max(1)
    }

    /// Takes up to `budget` steps.
    pub fn walk(&mut self, trace: &Trace, order: &Order, budget: usize) -> Progress {
        for _ in 0..budget {
            if self.left == 0 {
                return Progress::Nothing;
            }
            let Some(position) = self.position(order.len()) else { return Progress::Nothing };
            self.left -= 1;
            self.next = match self.direction {
                Direction::Forward => position + 1,
                Direction::Backward => position.wrapping_sub(1),
            };
            let event = order.event(position).and_then(|id| trace.events().get(id.index()));
            match event.map_or(Look::End, |event| (self.look)(event)) {
                Look::On => {}
                Look::Here => return Progress::Found(position, self.wrapped),
                Look::End => return Progress::Nothing,
            }
        }
        Progress::Going
    }

    /// The position to look at, if the search continues there.
    fn position(&mut self, length: usize) -> Option<usize> {
        if self.next < length {
            return Some(self.next);
        }
        self.wrapped = true;
        let other_end = match self.direction {
            Direction::Forward => 0,
            Direction::Backward => length.checked_sub(1)?,
        };
        (self.around && length > 0).then_some(other_end)
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::Op;

    use super::*;

    #[test]
    fn walks_end_at_the_end_or_go_around() {
        let trace = foretell_testkit::trace("A|w(x)|1\nA|branch|2\nA|w(x)|3\nA|branch|4\nA|branch|5\n");
        let order = Order::Recorded(5);
        let is_write = |event: &Event| match event.op {
            Op::Write { .. } => Look::Here,
            _ => Look::On,
        };
        let walk = |direction, from, around| {
            let seek = Seek::new("a write", direction, from, 5, is_write);
            let mut seek = if around { seek.around(5) } else { seek };
            loop {
                match seek.walk(&trace, &order, 1) {
                    Progress::Going => {}
                    end => return end,
                }
            }
        };
        assert_eq!(walk(Direction::Forward, 0, false), Progress::Found(2, false));
        assert_eq!(walk(Direction::Forward, 2, false), Progress::Nothing);
        assert_eq!(walk(Direction::Forward, 2, true), Progress::Found(0, true));
        assert_eq!(walk(Direction::Backward, 0, false), Progress::Nothing);
        assert_eq!(walk(Direction::Backward, 0, true), Progress::Found(2, true));
        assert_eq!(walk(Direction::Backward, 4, false), Progress::Found(2, false));
    }

    #[test]
    fn who_looks_may_give_up() {
        let trace = foretell_testkit::trace("A|w(x)|1\nA|branch|2\nA|w(x)|3\n");
        let mut seek = Seek::new("nothing", Direction::Forward, 0, 3, |_| Look::End).around(3);
        assert_eq!(seek.walk(&trace, &Order::Recorded(3), 10), Progress::Nothing);
    }
}
