//! The other proof of a race: in the observed run itself the language's happens-before does not order the two accesses.
//!
//! One pass over the events judges any number of pairs. `order` keeps the happens-before of what has passed,
//! `clock` is what it is made of.
//!
//! **Why an accepted pair is a data race of the program.** The observed run is sequentially consistent, hence one
//! that C11, C++20 and Rust allow. These languages call two conflicting accesses, not both atomic, a data race if
//! happens-before orders neither before the other in such a run. The order kept here contains that happens-before (it
//! has *more* edges where `order` is careful), and happens-before never points backwards in the trace. So what is
//! unordered here is unordered in the language: nothing more is needed, and values do not matter.
//!
//! The definition alone would also accept pairs that exist only because an earlier race went the way it did (`y = 1;
//! x = 1` against `if (x) use(y)` with plain accesses: the second race is gone once the first is repaired). Therefore
//! a plain read is also ordered after the write that it saw, for all that comes after it: nothing that follows a racy
//! read is trusted. For traces without atomics this is schedulable happens-before, and every accepted pair can even
//! be made adjacent. A failed attempt to take a lock orders nothing, as the languages say; that is the one exception
//! to the last sentence.
//!
//! Java orders a volatile write before *every* later volatile read of the variable, C++ only before those that see it
//! or a read-modify-write after it. This is C++'s order: do not use this proof for Java.

pub(crate) mod clock;
pub(crate) mod order;

use foretell_trace::{Event, EventId};

use crate::referee::{Claim, Finding, Proof, Reason, Rejection, conflict};
use order::HappensBefore;

/// Judges many pairs in one pass.
#[derive(Debug)]
pub struct UnorderedReferee {
    /// Happens-before among the events so far.
    order: HappensBefore,
    cases: Vec<Case>,
    /// The events that the pairs are about, sorted.
    visits: Vec<Visit>,
    /// How many of the visits are done.
    visited: usize,
    /// How many events have passed.
    passed: usize,
    /// Events were left out, so that nothing can be said any more. Stays.
    gap: bool,
}

/// One pair to be judged.
#[derive(Debug)]
struct Case {
    first: EventId,
    second: EventId,
    /// The first event and its local time, once it has passed.
    seen: Option<(Event, u32)>,
    /// The judgement, once the second event has passed.
    verdict: Option<Result<(), Reason>>,
}

/// An event that one of the pairs is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Visit {
    event: EventId,
    /// The place of the pair in the list of cases.
    case: usize,
}

impl UnorderedReferee {
    /// Is to judge whether happens-before leaves these pairs unordered; the first of the trace comes first in each.
    pub fn new(pairs: Vec<(EventId, EventId)>) -> UnorderedReferee {
        let case = |(first, second)| Case { first, second, seen: None, verdict: None };
        let cases: Vec<Case> = pairs.into_iter().map(case).collect();
        let mut visits: Vec<Visit> = cases
            .iter()
            .enumerate()
            .flat_map(|(case, pair)| [pair.first, pair.second].map(|event| Visit { event, case }))
            .collect();
        visits.sort_unstable();
        UnorderedReferee { order: HappensBefore::default(), cases, visits, visited: 0, passed: 0, gap: false }
    }

    /// Takes the next events of the trace; `first_id` is the id of the first of them. All events must come, in order.
    pub fn batch(&mut self, first_id: EventId, events: &[Event]) {
        self.gap |= first_id.index() != self.passed;
        let mut rest = events;
        while !rest.is_empty() {
            let (quiet, others) = rest.split_at(self.until_next_visit().min(rest.len()));
            for event in quiet {
                self.order.come(event);
                self.order.perform(event);
            }
            self.passed += quiet.len();
            rest = others;
            if let Some((event, others)) = rest.split_first() {
                self.order.come(event);
                self.visit(event);
                self.order.perform(event);
                self.passed += 1;
                rest = others;
            }
        }
    }

    /// The judgements, in the order of the pairs. To be called after the last event.
    pub fn verdicts(self) -> Vec<Result<Finding, Rejection>> {
        let gap = self.gap;
        self.cases.into_iter().map(|case| case.judgement(gap)).collect()
    }

    fn until_next_visit(&self) -> usize {
        self.visits
            .get(self.visited)
            .map_or(usize::MAX, |visit| visit.event.index().saturating_sub(self.passed))
    }

    /// Looks at the event, which some pair may be about, before it takes effect.
    fn visit(&mut self, event: &Event) {
        while let Some(visit) = self.visits.get(self.visited)
            && visit.event.index() <= self.passed
        {
            let case = &mut self.cases[visit.case];
            match &case.seen {
                None if visit.event == case.first => {
                    case.seen = Some((*event, self.order.time(event.thread)));
                }
                None => {}
                Some((first, time)) => case.verdict = Some(judge(&self.order, first, *time, event)),
            }
            self.visited += 1;
        }
    }
}

impl Case {
    fn judgement(self, gap: bool) -> Result<Finding, Rejection> {
        let verdict = match self.verdict {
            _ if self.first >= self.second => Err((self.second, Reason::NotInTraceOrder)),
            _ if gap => Err((self.second, Reason::EventsMissing)),
            Some(verdict) => verdict.map_err(|reason| (self.second, reason)),
            None if self.seen.is_some() => Err((self.second, Reason::NoSuchEvent)),
            None => Err((self.first, Reason::NoSuchEvent)),
        };
        match verdict {
            Ok(()) => Ok(Finding::checked(Claim {
                first: self.first,
                second: self.second,
                proof: Proof::Unordered,
            })),
            Err((event, reason)) => Err(Rejection::of_claim(event, reason)),
        }
    }
}

fn judge(order: &HappensBefore, first: &Event, time: u32, second: &Event) -> Result<(), Reason> {
    if first.thread == second.thread {
        Err(Reason::SameThread)
    } else if !conflict(first, second) {
        Err(Reason::NoConflict)
    } else if order.knows(second.thread, first.thread, time) {
        Err(Reason::Ordered)
    } else {
        Ok(())
    }
}
