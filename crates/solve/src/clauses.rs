//! The clauses, and who watches which.

use crate::literal::{Lit, narrow};

/// The number of a clause. Changes when clauses are dropped.
pub(crate) type ClauseId = u32;

/// With more literals, or more clauses, a search takes too much memory.
const MOST_LITERALS: usize = 8 << 20;
const MOST_CLAUSES: usize = 1 << 20;

/// All clauses of two literals or more. The first two literals of each are watched: the search looks at a clause when
/// one of these becomes false.
#[derive(Debug, Default)]
pub(crate) struct Clauses {
    literals: Vec<Lit>,
    headers: Vec<Header>,
    /// For each literal, the clauses that watch it.
    watches: Vec<Vec<Watch>>,
    /// How many of the clauses were learnt.
    learnt: usize,
}

/// Where a clause is and what it is worth.
#[derive(Clone, Copy, Debug)]
struct Header {
    start: u32,
    length: u32,
    /// For a learnt clause, how many levels its literals came from: the fewer, the more useful. Clauses of the problem
    /// have 0, and stay.
    spread: u32,
    /// When a learnt clause was last of use, in conflicts.
    used: u32,
}

/// That a clause watches a literal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) clause: ClauseId,
    /// Another literal of the clause. While it is true, the clause need not be looked at.
    pub(crate) blocker: Lit,
}

impl Clauses {
    pub(crate) fn add_variable(&mut self) {
        self.watches.push(Vec::new());
        self.watches.push(Vec::new());
    }

    /// Adds a clause of at least two literals, of which it watches the first two.
    pub(crate) fn add(&mut self, literals: &[Lit], spread: u32, now: u32) -> ClauseId {
        let clause = narrow(self.headers.len());
        let header =
            Header { start: narrow(self.literals.len()), length: narrow(literals.len()), spread, used: now };
        self.headers.push(header);
        self.literals.extend_from_slice(literals);
        self.learnt += usize::from(spread > 0);
        self.watch(clause, literals[0], literals[1]);
        clause
    }

    fn watch(&mut self, clause: ClauseId, first: Lit, second: Lit) {
        self.watches[first.index()].push(Watch { clause, blocker: second });
        self.watches[second.index()].push(Watch { clause, blocker: first });
    }

    pub(crate) fn literals(&self, clause: ClauseId) -> &[Lit] {
        let Header { start, length, .. } = self.headers[clause as usize];
        &self.literals[start as usize..(start + length) as usize]
    }

    pub(crate) fn literals_mut(&mut self, clause: ClauseId) -> &mut [Lit] {
        let Header { start, length, .. } = self.headers[clause as usize];
        &mut self.literals[start as usize..(start + length) as usize]
    }

    /// The watches of a literal, taken out to be gone through.
    pub(crate) fn take_watches(&mut self, literal: Lit) -> Vec<Watch> {
        std::mem::take(&mut self.watches[literal.index()])
    }

    pub(crate) fn put_watches(&mut self, literal: Lit, watches: Vec<Watch>) {
        self.watches[literal.index()] = watches;
    }

    pub(crate) fn add_watch(&mut self, literal: Lit, watch: Watch) {
        self.watches[literal.index()].push(watch);
    }

    /// Notes that a clause took part in a conflict.
    pub(crate) fn use_at(&mut self, clause: ClauseId, now: u32) {
        self.headers[clause as usize].used = now;
    }

    /// Whether they take more memory than they may.
    pub(crate) fn are_too_many(&self) -> bool {
        self.literals.len() > MOST_LITERALS || self.headers.len() > MOST_CLAUSES
    }

    pub(crate) fn count(&self) -> usize {
        self.headers.len()
    }

    pub(crate) fn learnt(&self) -> usize {
        self.learnt
    }

    /// Drops the worse half of the learnt clauses, except those that `is_needed`. Gives for each clause its new number.
    pub(crate) fn drop_worse_half(
        &mut self,
        is_needed: impl Fn(ClauseId, &[Lit]) -> bool,
    ) -> Vec<Option<ClauseId>> {
        let worth = |header: &Header| (std::cmp::Reverse(header.spread), header.used);
        let is_candidate = |clause: &ClauseId| {
            self.headers[*clause as usize].spread > 2 && !is_needed(*clause, self.literals(*clause))
        };
        let mut candidates: Vec<ClauseId> = (0..narrow(self.headers.len())).filter(is_candidate).collect();
        candidates.sort_by_key(|&clause| worth(&self.headers[clause as usize]));
        candidates.truncate(candidates.len().div_ceil(2));
        let mut dropped = vec![false; self.headers.len()];
        candidates.iter().for_each(|&clause| dropped[clause as usize] = true);
        self.keep(&dropped)
    }

    /// Rebuilds everything without the dropped clauses.
    fn keep(&mut self, dropped: &[bool]) -> Vec<Option<ClauseId>> {
        let (headers, literals) = (std::mem::take(&mut self.headers), std::mem::take(&mut self.literals));
        self.watches.iter_mut().for_each(Vec::clear);
        self.learnt = 0;
        let mut renumbered = Vec::with_capacity(headers.len());
        for (header, &dropped) in headers.iter().zip(dropped) {
            let of_clause = &literals[header.start as usize..(header.start + header.length) as usize];
            renumbered.push((!dropped).then(|| self.add(of_clause, header.spread, header.used)));
        }
        renumbered
    }
}
