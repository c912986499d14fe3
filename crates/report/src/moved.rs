//! Which pieces of an order were moved to get another one.

/// Which way something was moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// To the front.
    Earlier,
    /// To the end.
    Later,
}

/// What was moved, and which way, to bring the numbers into this order; all others are in ascending order, and they
/// are as many as possible. All numbers are different.
pub(crate) fn moved(order: &[usize]) -> Vec<Option<Moved>> {
    let stays = longest_ascent(order);
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let way = |at: usize, number: usize| {
        let before = sorted.partition_point(|&other| other < number);
        if at < before { Moved::Earlier } else { Moved::Later }
    };
    let step = |(at, &number): (usize, &usize)| (!stays[at]).then(|| way(at, number));
    order.iter().enumerate().map(step).collect()
}

/// Which numbers form a longest ascending sequence.
fn longest_ascent(order: &[usize]) -> Vec<bool> {
    // Where the ascents of each length end that end with the smallest number.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(order.len());
    for (at, &number) in order.iter().enumerate() {
        let length = ends.partition_point(|&end| order[end] < number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut is_part = vec![false; order.len()];
    let mut next = ends.last().copied();
    while let Some(at) = next {
        is_part[at] = true;
        next = before[at];
    }
    is_part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_shorter_piece_is_moved() {
        use Moved::{Earlier, Later};
        let (stays, later, earlier) = (None, Some(Later), Some(Earlier));
        assert_eq!(moved(&[1, 2, 10, 11, 12, 4, 14]), [stays, stays, stays, stays, stays, later, stays]);
        assert_eq!(moved(&[9, 1, 2, 3]), [earlier, stays, stays, stays]);
        assert_eq!(moved(&[]), []);
    }

    /// The length of the longest ascent by trying everything.
    fn longest(order: &[usize]) -> usize {
        let subsets = 0..1_u32 << order.len();
        let chosen = |subset: u32| -> Vec<usize> {
            order
                .iter()
                .enumerate()
                .filter(|(at, _)| subset >> at & 1 == 1)
                .map(|(_, &number)| number)
                .collect()
        };
        let ascents = subsets.map(chosen).filter(|chosen| chosen.is_sorted());
        ascents.map(|chosen| chosen.len()).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn as_little_as_possible_is_moved(order in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle()) {
            let moved = moved(&order);
            let stays: Vec<usize> =
                order.iter().zip(&moved).filter(|(_, moved)| moved.is_none()).map(|(&number, _)| number).collect();
            prop_assert!(stays.is_sorted());
            prop_assert_eq!(stays.len(), longest(&order));
        }
    }
}
