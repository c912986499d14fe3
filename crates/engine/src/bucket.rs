//! One piece of work: the pairs of two locations, tried one after the other until one of them is a race.

use std::time::{Duration, Instant};

use foretell_detect::Pair;
use foretell_predict::{Bucket, Key, Limit, Verdict, Witness};

use crate::analysis::Reason;

/// What came of a bucket; `R` is a race that the referee has accepted.
#[derive(Debug)]
pub(crate) struct Worked<R> {
    /// The race that decides it.
    pub(crate) race: Option<R>,
    /// The nearest pair that is not decided, and why.
    pub(crate) undecided: Option<(Pair, Reason)>,
    /// How many pairs of the bucket are not decided, that one included.
    pub(crate) undecided_pairs: u64,
    /// How many pairs are no race.
    pub(crate) refuted: u64,
    /// How many pairs have no race within one window.
    pub(crate) not_in_window: u64,
    /// How many pairs were not tried because everything is to stop.
    pub(crate) untouched: u64,
    /// How long it took.
    pub(crate) spent: Duration,
    /// The time is used up: no more pairs of these locations are to be tried.
    pub(crate) given_up: bool,
}

impl<R> Worked<R> {
    fn new() -> Worked<R> {
        Worked {
            race: None,
            undecided: None,
            undecided_pairs: 0,
            refuted: 0,
            not_in_window: 0,
            untouched: 0,
            spent: Duration::ZERO,
            given_up: false,
        }
    }

    fn leave_open(&mut self, pair: Pair, pairs: usize, reason: Reason) {
        self.undecided_pairs += pairs as u64;
        if self.undecided.is_none() {
            self.undecided = Some((pair, reason));
        }
    }
}

/// How pairs are decided, checked and stopped.
pub(crate) struct Tools<D, C, S> {
    /// Decides a pair in the given time.
    pub(crate) decide: D,
    /// Has the referee check a schedule.
    pub(crate) check: C,
    /// Whether everything is to stop.
    pub(crate) is_stopped: S,
}

/// Tries the pairs of the bucket. `left` is the time for one pair; the pairs of two locations have it together.
pub(crate) fn work<R>(
    bucket: &Bucket,
    left: Duration,
    tools: &mut Tools<
        impl Fn(Pair, Duration) -> Verdict,
        impl FnMut(Pair, Witness) -> Result<R, Reason>,
        impl Fn() -> bool,
    >,
) -> Worked<R> {
    let mut worked = Worked::new();
    let begin = Instant::now();
    for (index, &pair) in bucket.pairs.iter().enumerate() {
        let untried = bucket.pairs.len() - index;
        if (tools.is_stopped)() {
            worked.untouched += untried as u64;
            break;
        }
        let left = left.saturating_sub(begin.elapsed());
        if left.is_zero() && (index > 0 || matches!(bucket.key, Key::Locations(..))) {
            worked.leave_open(pair, untried, Reason::Limit(Limit::Budget));
            worked.given_up = true;
            break;
        }
        match (tools.decide)(pair, left) {
            Verdict::Unreachable(_) => worked.refuted += 1,
            Verdict::NotInWindow => worked.not_in_window += 1,
            Verdict::Undecided(limit) => worked.leave_open(pair, 1, Reason::Limit(limit)),
            Verdict::Reached(witness) => match (tools.check)(pair, witness) {
                Ok(race) => {
                    worked.race = Some(race);
                    break;
                }
                Err(reason) => worked.leave_open(pair, 1, reason),
            },
        }
    }
    worked.spent = begin.elapsed();
    worked
}

#[cfg(test)]
mod tests {
    use foretell_predict::Refutation;
    use foretell_trace::Model;
    use foretell_trace::{EventId, Loc, Symbol};

    use super::*;

    fn pair(first: u32, second: u32) -> Pair {
        Pair { first: EventId::from_number(first).unwrap(), second: EventId::from_number(second).unwrap() }
    }

    fn bucket(pairs: &[Pair]) -> Bucket {
        let loc = Loc(Symbol::ZERO);
        Bucket { key: Key::Locations(loc, loc), pairs: pairs.to_vec(), next: None, more: 0, left_out: 0 }
    }

    type Fakes = Tools<
        Box<dyn Fn(Pair, Duration) -> Verdict>,
        fn(Pair, Witness) -> Result<Pair, Reason>,
        Box<dyn Fn() -> bool>,
    >;

    /// Pairs with an even first event race; the referee believes all but those that begin with event 4.
    fn tools(verdict: impl Fn(Pair) -> Verdict + 'static, stopped: bool) -> Fakes {
        let decide = move |pair: Pair, _| {
            if pair.first.number().is_multiple_of(2) {
                let schedule = vec![pair.first, pair.second];
                Verdict::Reached(Witness { model: Model::SameValue, schedule })
            } else {
                verdict(pair)
            }
        };
        let check = |pair: Pair, _| if pair.first.number() == 4 { Err(Reason::NoSchedule) } else { Ok(pair) };
        Tools { decide: Box::new(decide), check, is_stopped: Box::new(move || stopped) }
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_first_race_decides() {
        let pairs = [pair(1, 3), pair(2, 5), pair(6, 9)];
        let worked = work(&bucket(&pairs), MINUTE, &mut tools(|_| Verdict::NotInWindow, false));
        assert_eq!(worked.race, Some(pair(2, 5)));
        assert_eq!((worked.not_in_window, worked.undecided), (1, None));
    }

    #[test]
    fn what_the_referee_rejects_is_no_race_but_undecided() {
        let pairs = [pair(4, 5), pair(1, 3)];
        let verdict = |_| Verdict::Unreachable(Refutation::default());
        let worked = work(&bucket(&pairs), MINUTE, &mut tools(verdict, false));
        assert_eq!(worked.race, None);
        assert_eq!((worked.undecided, worked.undecided_pairs), (Some((pair(4, 5), Reason::NoSchedule)), 1));
        assert_eq!(worked.refuted, 1);
    }

    #[test]
    fn the_nearest_undecided_pair_stands_for_all() {
        let pairs = [pair(1, 3), pair(5, 8), pair(1, 7)];
        let verdict = |pair: Pair| match pair.first.number() {
            5 => Verdict::Undecided(Limit::Budget),
            _ => Verdict::Undecided(Limit::Technique),
        };
        let worked = work(&bucket(&pairs), MINUTE, &mut tools(verdict, false));
        assert_eq!(worked.undecided, Some((pair(1, 3), Reason::Limit(Limit::Technique))));
        assert_eq!((worked.undecided_pairs, worked.given_up), (3, false));
    }

    #[test]
    fn without_time_all_is_undecided_and_after_a_stop_untouched() {
        let pairs = [pair(2, 3), pair(5, 8)];
        let worked = work(&bucket(&pairs), Duration::ZERO, &mut tools(|_| Verdict::NotInWindow, false));
        assert_eq!((worked.race, worked.undecided_pairs, worked.given_up), (None, 2, true));
        let worked = work(&bucket(&pairs), MINUTE, &mut tools(|_| Verdict::NotInWindow, true));
        assert_eq!((worked.race, worked.undecided_pairs, worked.untouched), (None, 0, 2));
    }
}
