//! Takes locks in another order than the run before (Cai and Cao, "Effective and Precise Dynamic Detection of Hidden
//! Races for Java Programs", ESEC/FSE 2015).
//!
//! The order in which two threads took a lock hides races from happens-before. Each run collects which functions may
//! take which kinds of locks, directly or by what they call, up to [`DEPTH`] calls deep: the may-trigger relation
//! (Algorithm 1). The next run uses it. When a thread is about to take a lock of some kind, and another one is in a
//! function that may come to take one of the same kind, the first is suspended, and the other one is escorted: it runs
//! alone until it has taken such a lock (Algorithms 2 and 3). Otherwise any thread runs. With an empty relation no
//! thread is suspended: that is the first run.
//!
//! **Changed**, as the published algorithm 3 would hang or suspend the wrong threads:
//! * line 17 leaves `allowedLK` at the lock that was just taken, where it is to be forgotten together with
//!   `allowedTH`;
//! * line 33 takes any thread, which may not be about to take anything; here only a thread that is about to is ever
//!   suspended;
//! * lines 43 and 55 ask what the wrong thread waits for, the second one after it was forgotten: the escorted thread
//!   is expected to take what the held one wants, so that kind is kept from the start;
//! * line 48 waits for the escorted thread for ever, though it may end, wait for a thread, or never take the lock. When
//!   it has ended, or after a while, the suspended thread continues, and in the second case the function and the kind
//!   are ignored for the rest of the run. While it waits for a thread, another candidate is escorted, or others run, at
//!   a cost;
//! * line 54 lets only the suspended thread take a lock, though it may have to wait for it; here it continues like all
//!   others.
//!
//! **Added**, each by the toss of a coin, so that some runs are as published:
//! * the calls of the innermost function may be asked as well ([`REACH`](crate::REACH)): a thread that is in a small
//!   helper now may be on its way to the lock all the same;
//! * the escort may continue until the same lock was taken, not just one of the same kind;
//! * after a reversal the thread may be suspended before the same lock again: some races need a thread to pass a lock
//!   several times.
//!
//! One thread is suspended at a time, and is resumed when no other thread can run (thrashing, which is counted). So a
//! suspension never causes a deadlock.
//!
//! **Guarantee:** none but that: every run is a run of the program.
//!
//! **May miss:** what no run of a function has shown (the relation knows only what happened), orders of locks before
//! which no other thread is in a function that takes them, and what takes several reversals at a time.

use std::collections::BTreeMap;

use crate::{Dice, Operation, Ready, Relation, Strategy};

/// How many callers of an acquire are said to take the lock by default; as in the paper.
pub const DEPTH: u32 = 12;

/// How much may be spent on one escort.
const PATIENCE: u32 = 2_000;

/// What a pick costs while the escorted thread waits for a thread.
const WAITING: u32 = 10;

/// See the module.
#[derive(Clone, Debug)]
pub struct DrFinder {
    dice: Dice,
    depth: usize,
    /// Which functions may take which kinds of locks, according to the run before. Shrinks.
    relation: Relation,
    escort: Option<Escort>,
    /// The thread that is not suspended before this lock again, until it has it.
    excused: BTreeMap<u32, u64>,
    learnt: Learnt,
}

/// What a run teaches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Learnt {
    /// Which functions took which kinds of locks.
    pub relation: Relation,
    /// How it went.
    pub statistics: Statistics,
}

/// How often threads were held back, and what came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// How many locks were taken.
    pub acquisitions: u64,
    /// How often a thread was held back before it took a lock.
    pub suspensions: u64,
    /// How often another one then took a lock of the same kind first.
    pub reversals: u64,
    /// How often only the suspended thread could run.
    pub thrashings: u64,
}

impl Statistics {
    /// The share of suspensions that ended because no other thread could run, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a rate, for people")]
    pub fn thrashing_rate(&self) -> f64 {
        if self.suspensions == 0 { 0.0 } else { self.thrashings as f64 / self.suspensions as f64 }
    }

    /// As notes of a [`Relation`], a line each; [`crate::relation::note`] reads them.
    pub fn notes(&self) -> [String; 4] {
        [
            ("acquisitions", self.acquisitions),
            ("suspensions", self.suspensions),
            ("reversals", self.reversals),
            ("thrashings", self.thrashings),
        ]
        .map(|(name, count)| format!("{name} {count}"))
    }
}

/// A thread that is escorted: it runs alone while another one is suspended.
#[derive(Clone, Copy, Debug)]
struct Escort {
    thread: u32,
    /// Where it was at the beginning, which made us believe that it would take such a lock.
    function: u32,
    /// What it is expected to take: what the held thread is about to.
    kind: u32,
    /// The suspended thread,
    held: u32,
    /// and before what.
    lock: u64,
    /// It is expected to take the same lock, not only one of the same kind.
    is_strict: bool,
    /// It has taken a lock of this kind.
    is_right: bool,
    /// How much was spent so far.
    spent: u32,
}

impl DrFinder {
    /// The schedule with this seed, by what the run before has taught; up to how many calls from where a lock is
    /// taken the functions are kept in mind.
    pub fn new(seed: u64, depth: u32, relation: Relation) -> DrFinder {
        DrFinder {
            dice: Dice::new(seed),
            depth: depth as usize,
            relation,
            escort: None,
            excused: BTreeMap::new(),
            learnt: Learnt::default(),
        }
    }

    /// The thread that runs while another one is suspended; none if that is over.
    fn go_on_with_escort(&mut self, ready: &[Ready]) -> Option<Ready> {
        let mut escort = self.escort?;
        let is_ready = ready.iter().any(|ready| ready.thread == escort.thread);
        if !is_ready && let Some((thread, function)) = self.candidate(escort.held, escort.kind, ready) {
            escort = Escort { thread, function, ..escort };
        }
        let escorted = ready.iter().copied().find(|ready| ready.thread == escort.thread);
        let (picked, cost) = match escorted {
            Some(escorted) => (escorted, escorted.next.effort()),
            None => (self.anybody_but(escort.held, ready)?, WAITING),
        };
        escort.spent = escort.spent.saturating_add(cost);
        if escort.spent > PATIENCE {
            if !escort.is_right {
                self.relation.strike(escort.function, escort.kind);
            }
            self.end_escort(true);
            return None;
        }
        self.escort = Some(escort);
        Some(picked)
    }

    /// Any thread but the suspended one. If there is no other thread, that one is resumed.
    fn anybody_but(&mut self, held: u32, ready: &[Ready]) -> Option<Ready> {
        let others: Vec<Ready> = ready.iter().copied().filter(|ready| ready.thread != held).collect();
        let picked = self.dice.one_of(&others);
        if picked.is_none() {
            self.learnt.statistics.thrashings += 1;
            self.end_escort(true);
        }
        picked
    }

    /// Resumes the suspended thread; if it is excused, it is not suspended again before the same lock.
    fn end_escort(&mut self, is_excused: bool) {
        if let Some(escort) = self.escort.take().filter(|_| is_excused) {
            self.excused.insert(escort.held, escort.lock);
        }
    }

    /// Suspends the thread if another one may take a lock of the same kind first; returns that one.
    fn hold_back(&mut self, held: u32, lock: u64, kind: u32, ready: &[Ready]) -> Option<u32> {
        let (thread, function) = self.candidate(held, kind, ready)?;
        let is_strict = self.dice.below(2) == 0;
        self.learnt.statistics.suspensions += 1;
        self.escort =
            Some(Escort { thread, function, kind, held, lock, is_strict, is_right: false, spent: 0 });
        Some(thread)
    }

    /// Another thread that may take a lock of this kind, and the function that it is in.
    fn candidate(&mut self, held: u32, kind: u32, ready: &[Ready]) -> Option<(u32, u32)> {
        let reach = self.draw_reach();
        let may_trigger = |other: &Ready| {
            let functions = other.functions.iter().take(reach).flatten();
            let function = functions.copied().find(|&function| self.relation.may_trigger(function, kind))?;
            (other.thread != held).then_some((other.thread, function))
        };
        let candidates: Vec<(u32, u32)> = ready.iter().filter_map(may_trigger).collect();
        self.dice.one_of(&candidates)
    }

    /// How many of a thread's functions are asked: mostly one, half as often two, and so on.
    fn draw_reach(&mut self) -> usize {
        1 + self.dice.bits().trailing_ones() as usize
    }

    fn acquires(&mut self, thread: u32, lock: u64, kind: u32, calls: &mut dyn Iterator<Item = u32>) {
        self.learnt.statistics.acquisitions += 1;
        for function in calls.take(self.depth) {
            self.learnt.relation.add(function, kind);
        }
        self.excused.remove(&thread);
        if let Some(escort) =
            self.escort.as_mut().filter(|escort| escort.thread == thread && escort.kind == kind)
        {
            escort.is_right = true;
            if !escort.is_strict || escort.lock == lock {
                self.learnt.statistics.reversals += 1;
                let is_enough = self.dice.below(2) == 0;
                self.end_escort(is_enough);
            }
        }
    }
}

impl Strategy for DrFinder {
    fn pick(&mut self, ready: &[Ready]) -> u32 {
        if let Some(picked) = self.go_on_with_escort(ready) {
            return picked.thread;
        }
        let Some(picked) = self.dice.one_of(ready) else { return 0 };
        match picked.next {
            Operation::Acquire { lock, kind } if self.excused.get(&picked.thread) != Some(&lock) => {
                self.hold_back(picked.thread, lock, kind, ready).unwrap_or(picked.thread)
            }
            _ => picked.thread,
        }
    }

    fn happens(&mut self, thread: u32, operation: Operation, calls: &mut dyn Iterator<Item = u32>) {
        if let Operation::Acquire { lock, kind } = operation {
            self.acquires(thread, lock, kind, calls);
        }
    }

    fn ended(&mut self, thread: u32) {
        if self.escort.is_some_and(|escort| escort.thread == thread) {
            self.end_escort(true);
        }
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }

    fn learnt(&self) -> Option<&Learnt> {
        Some(&self.learnt)
    }
}

#[cfg(test)]
mod tests;
