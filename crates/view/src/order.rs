//! Which events are shown, and in which order.

use foretell_trace::EventId;

/// An order of events.
#[derive(Clone, Debug)]
pub enum Order {
    /// All events, as they were recorded: so many.
    Recorded(usize),
    /// Some events in another order: the witness of a race.
    Witness(Vec<EventId>),
}

impl Order {
    /// How many events there are.
    pub fn len(&self) -> usize {
        match self {
            Order::Recorded(events) => *events,
            Order::Witness(events) => events.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The event at this position.
    pub fn event(&self, position: usize) -> Option<EventId> {
        match self {
            Order::Recorded(events) if position < *events => EventId::from_index(position),
            Order::Recorded(_) => None,
            Order::Witness(events) => events.get(position).copied(),
        }
    }

    /// Where this event is.
    pub fn position(&self, event: EventId) -> Option<usize> {
        match self {
            Order::Recorded(events) => Some(event.index()).filter(|position| position < events),
            Order::Witness(events) => events.iter().position(|&other| other == event),
        }
    }
}

/// The rows of the screen: all positions of an order, or those that were picked.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Row and position are the same: so many.
    All(usize),
    /// Only some. The list grows while the order is being looked through.
    Picked {
        /// The positions that are shown, in ascending order.
        positions: Vec<u32>,
        /// How many positions were looked at.
        looked: usize,
    },
}

impl Rows {
    /// No row yet, but some to be picked.
    pub fn none_yet() -> Rows {
        Rows::Picked { positions: Vec::new(), looked: 0 }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Rows::All(rows) => *rows,
            Rows::Picked { positions, .. } => positions.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position that is shown in this row.
    pub fn position(&self, row: usize) -> Option<usize> {
        match self {
            Rows::All(rows) => Some(row).filter(|row| row < rows),
            Rows::Picked { positions, .. } => positions.get(row).map(|&position| position as usize),
        }
    }

    /// The row of this position, or, if it is not shown, the first one after it; at the end the number of rows.
    pub fn at_or_after(&self, position: usize) -> usize {
        match self {
            Rows::All(rows) => position.min(*rows),
            Rows::Picked { positions, .. } => positions.partition_point(|&shown| (shown as usize) < position),
        }
    }

    /// How far an order of this length was looked through.
    pub fn looked(&self) -> usize {
        match self {
            Rows::All(rows) => *rows,
            Rows::Picked { looked, .. } => *looked,
        }
    }

    /// Looks at up to `budget` more positions, of `length` in all, and takes those that are wanted.
    pub fn pick(&mut self, length: usize, budget: usize, mut is_wanted: impl FnMut(usize) -> bool) {
        let Rows::Picked { positions, looked } = self else { return };
        let end = length.min(looked.saturating_add(budget));
        let wanted = (*looked..end).filter(|&position| is_wanted(position));
        positions.extend(wanted.filter_map(|position| u32::try_from(position).ok()));
        *looked = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_rows_are_found_by_position() {
        let mut rows = Rows::none_yet();
        rows.pick(10, 4, |position| position % 3 == 1);
        assert_eq!((rows.len(), rows.looked()), (1, 4));
        rows.pick(10, 100, |position| position % 3 == 1);
        assert_eq!((rows.len(), rows.looked()), (3, 10));
        assert_eq!([0, 1, 2, 7, 8].map(|position| rows.at_or_after(position)), [0, 0, 1, 2, 3]);
        assert_eq!((rows.position(2), rows.position(3)), (Some(7), None));
    }

    #[test]
    fn a_witness_has_positions_of_its_own() {
        let id = |number| EventId::from_number(number).unwrap();
        let order = Order::Witness(vec![id(3), id(1)]);
        assert_eq!((order.position(id(1)), order.position(id(2))), (Some(1), None));
        assert_eq!(Order::Recorded(2).position(id(3)), None);
    }
}
