//! What is known about each piece of work so far, across batches.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use foretell_detect::Pair;
use foretell_predict::{Bucket, Key};

use crate::analysis::Reason;
use crate::bucket::Worked;

/// What is left open of one piece of work.
#[derive(Debug, Default)]
struct Open {
    /// The nearest pair that is not decided, and why.
    undecided: Option<(Pair, Reason)>,
    /// How many pairs are not decided, that one included.
    pairs: u64,
    not_in_window: u64,
    /// How many pairs have not been handed out yet.
    to_come: u64,
    spent: Duration,
}

/// A pair that is not decided, with its reason and how many more there are like it.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Undecided {
    pub(crate) pair: Pair,
    pub(crate) reason: Reason,
    pub(crate) more: u64,
}

/// The books of one technique on one trace.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// What is decided, or not worth more time. Only grows.
    closed: HashSet<Key>,
    open: BTreeMap<Key, Open>,
    /// How many pairs are no race.
    pub(crate) refuted: u64,
    /// How many pairs were not examined.
    not_examined: u64,
    /// How many more races there is room for. Only shrinks.
    room: usize,
    /// Work was left because there was no room. Stays.
    left: bool,
}

impl Ledger {
    /// Books that begin with what earlier stages have decided, and have room for so many races.
    pub(crate) fn new(closed: HashSet<Key>, room: usize) -> Ledger {
        Ledger { closed, open: BTreeMap::new(), refuted: 0, not_examined: 0, room, left: false }
    }

    /// Whether there is no room for another race.
    pub(crate) fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Whether work was left because there was no room.
    pub(crate) fn has_left_any(&self) -> bool {
        self.left
    }

    /// Takes note of a bucket that there is no room for.
    pub(crate) fn leave(&mut self, bucket: &Bucket) {
        self.left = true;
        // What an earlier bucket has announced is counted there.
        if !self.open.contains_key(&bucket.key) {
            self.not_examined += bucket.pairs.len() as u64 + bucket.more + bucket.left_out;
        }
    }

    pub(crate) fn is_closed(&self, key: Key) -> bool {
        self.closed.contains(&key)
    }

    /// How much of the budget for this piece of work is left.
    pub(crate) fn time_left(&self, key: Key, budget: Duration) -> Duration {
        self.open.get(&key).map_or(budget, |open| budget.saturating_sub(open.spent))
    }

    /// Takes note of what came of a bucket; returns the race, if there is one and there is room for it.
    pub(crate) fn enter<R>(&mut self, bucket: &Bucket, worked: Worked<R>) -> Option<R> {
        if self.is_full() {
            self.leave(bucket);
            return None;
        }
        self.refuted += worked.refuted;
        if let Some(race) = worked.race {
            self.closed.insert(bucket.key);
            self.open.remove(&bucket.key);
            self.room -= 1;
            return Some(race);
        }
        self.not_examined += worked.untouched;
        let mut change = Open {
            undecided: worked.undecided,
            pairs: worked.undecided_pairs,
            not_in_window: worked.not_in_window,
            to_come: bucket.more,
            spent: worked.spent,
        };
        let mut left_out = bucket.left_out;
        if worked.given_up {
            self.closed.insert(bucket.key);
            left_out += std::mem::take(&mut change.to_come);
        }
        change.leave_out(bucket.next, left_out);
        // Most pairs of most traces are refuted at once: of these nothing needs to be kept.
        if change.pairs + change.not_in_window + change.to_come > 0 || self.open.contains_key(&bucket.key) {
            self.open.entry(bucket.key).or_default().add(change);
        }
        None
    }

    /// The work with pairs that have no race within a window, and how many.
    pub(crate) fn not_in_window(&self) -> Vec<(Key, u64)> {
        let open = self.open.iter().filter(|(_, open)| open.not_in_window > 0);
        open.map(|(&key, open)| (key, open.not_in_window)).collect()
    }

    /// What is left in the end: undecided pairs in the order of the trace, and how many pairs have no race within a
    /// window.
    pub(crate) fn close(self) -> (Vec<Undecided>, u64, u64) {
        let not_in_window = self.open.values().map(|open| open.not_in_window).sum();
        let not_examined = self.not_examined + self.open.values().map(|open| open.to_come).sum::<u64>();
        let undecided = self.open.into_values().filter_map(|open| {
            let (pair, reason) = open.undecided?;
            Some(Undecided { pair, reason, more: open.pairs.saturating_sub(1) })
        });
        let mut undecided: Vec<_> = undecided.collect();
        undecided.sort_by_key(|open| open.pair);
        (undecided, not_in_window, not_examined)
    }
}

impl Open {
    fn leave_out(&mut self, next: Option<Pair>, pairs: u64) {
        self.pairs += pairs;
        if let (1.., None, Some(next)) = (pairs, &self.undecided, next) {
            self.undecided = Some((next, Reason::NotTried));
        }
    }

    fn add(&mut self, later: Open) {
        self.undecided = self.undecided.take().or(later.undecided);
        self.pairs += later.pairs;
        self.not_in_window += later.not_in_window;
        self.to_come = later.to_come;
        self.spent += later.spent;
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::{EventId, Loc, Symbol};

    use super::*;

    fn pair(first: u32, second: u32) -> Pair {
        Pair { first: EventId::from_number(first).unwrap(), second: EventId::from_number(second).unwrap() }
    }

    fn bucket(more: u64, left_out: u64) -> Bucket {
        let loc = Loc(Symbol::ZERO);
        let (pairs, next) = (vec![pair(1, 2)], Some(pair(1, 9)));
        Bucket { key: Key::Locations(loc, loc), pairs, next, more, left_out }
    }

    fn worked(race: Option<&'static str>) -> Worked<&'static str> {
        Worked {
            race,
            undecided: None,
            undecided_pairs: 0,
            refuted: 1,
            not_in_window: 1,
            untouched: 0,
            spent: Duration::from_secs(1),
            given_up: false,
        }
    }

    #[test]
    fn a_race_closes_the_matter() {
        let mut ledger = Ledger::new(HashSet::new(), 9);
        assert_eq!(ledger.enter(&bucket(5, 0), worked(None)), None);
        assert_eq!(ledger.time_left(bucket(0, 0).key, Duration::from_secs(3)), Duration::from_secs(2));
        assert_eq!(ledger.enter(&bucket(0, 0), worked(Some("race"))), Some("race"));
        assert!(ledger.is_closed(bucket(0, 0).key));
        assert_eq!(ledger.refuted, 2);
        assert_eq!(ledger.close(), (vec![], 0, 0));
    }

    #[test]
    fn what_is_left_out_is_undecided() {
        let mut ledger = Ledger::new(HashSet::new(), 9);
        ledger.enter(&bucket(0, 7), worked(None));
        let (undecided, not_in_window, not_examined) = ledger.close();
        assert_eq!((undecided[0].pair, undecided[0].more), (pair(1, 9), 6));
        assert_eq!((not_in_window, not_examined), (1, 0));
    }

    #[test]
    fn giving_up_leaves_the_rest_undecided() {
        let mut ledger = Ledger::new(HashSet::new(), 9);
        let out_of_time = Some((pair(1, 2), Reason::NoSchedule));
        let given_up = Worked { undecided: out_of_time, undecided_pairs: 1, given_up: true, ..worked(None) };
        ledger.enter(&bucket(5, 2), given_up);
        assert!(ledger.is_closed(bucket(0, 0).key));
        let (undecided, ..) = ledger.close();
        assert_eq!(
            (undecided[0].pair, &undecided[0].reason, undecided[0].more),
            (pair(1, 2), &Reason::NoSchedule, 7)
        );
    }

    #[test]
    fn what_is_still_to_come_after_a_stop_was_not_looked_at() {
        let mut ledger = Ledger::new(HashSet::new(), 9);
        ledger.enter(&bucket(5, 0), Worked { untouched: 3, ..worked(None) });
        assert_eq!(ledger.close().2, 8);
    }

    #[test]
    fn what_there_is_no_room_for_is_only_counted() {
        let mut ledger = Ledger::new(HashSet::new(), 1);
        assert_eq!(ledger.enter(&bucket(0, 0), worked(Some("race"))), Some("race"));
        assert!(ledger.is_full() && !ledger.has_left_any());
        let event = |number| Bucket { key: Key::Events(pair(1, number)), ..bucket(5, 2) };
        assert_eq!(ledger.enter(&event(2), worked(Some("another race"))), None);
        ledger.leave(&event(3));
        assert!(ledger.has_left_any());
        assert_eq!((ledger.refuted, ledger.close()), (1, (vec![], 0, 16)));
    }

    #[test]
    fn what_was_announced_is_counted_once() {
        let mut ledger = Ledger::new(HashSet::new(), 1);
        let event = |more| Bucket { key: Key::Events(pair(1, 9)), ..bucket(more, 0) };
        ledger.enter(&event(5), worked(None));
        ledger.enter(&bucket(0, 0), worked(Some("race")));
        ledger.leave(&event(4));
        assert_eq!(ledger.close().2, 5);
    }
}
