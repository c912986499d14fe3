//! Builds terms, each with its value in the run.

use foretell_depend::Tracker;
use foretell_trace::values::{Binary, Demand, Demanded, Obstacles, Term, TermId, Unary, Values};
use foretell_trace::{Dependence, EventId, Reads};
use rustc_hash::FxHashMap;

use crate::values::Scalar;

/// How many of the last terms are hash-consed.
const REMEMBERED: usize = 1 << 12;

/// What a value depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// It is this term.
    Term(TermId),
    /// It depends on these reads in an unknown way. A value that depends on none is the same in all runs.
    Made(Reads),
}

impl Origin {
    pub(crate) const NOTHING: Origin = Origin::Made(Reads::NOTHING);
}

/// Of both words of a value, see [`crate::values::Known`].
pub(crate) type Origins = [Origin; 2];

/// A byte of a value, by its index.
pub(crate) type Source = (Origin, u32);

/// It depends on no read.
pub(crate) const CONSTANT: Origins = [Origin::NOTHING; 2];

/// All terms so far, and the writes and path constraints that use them.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    terms: Vec<Term>,
    /// The value of each in the run.
    observed: Vec<u64>,
    /// How many bits each of them has at most.
    widths: Vec<u32>,
    /// The reads that each depends on.
    sets: Vec<Reads>,
    remembered: Vec<Option<TermId>>,
    written: Vec<(EventId, TermId)>,
    demands: Vec<Demand>,
    /// The terms of reads.
    reads: FxHashMap<EventId, TermId>,
    /// Values without a term, by obstacle.
    pub(crate) obstacles: Obstacles,
}

impl Terms {
    /// The value of a term in the run.
    pub(crate) fn observed(&self, term: TermId) -> u64 {
        self.observed.get(term.index()).copied().unwrap_or(0)
    }

    /// The reads that a value depends on.
    pub(crate) fn reads_of(&self, origin: Origin) -> Reads {
        match origin {
            Origin::Term(term) => self.sets.get(term.index()).copied().unwrap_or(Reads::EVERYTHING),
            Origin::Made(reads) => reads,
        }
    }

    fn add(&mut self, term: Term, width: u32, observed: u64, reads: Reads) -> Option<TermId> {
        let place = place(&term);
        if self.remembered.is_empty() {
            self.remembered.resize(REMEMBERED, None);
        }
        if let Some(known) = self.remembered[place]
            && self.terms.get(known.index()) == Some(&term)
        {
            return Some(known);
        }
        let id = TermId::from_index(self.terms.len())?;
        self.terms.push(term);
        self.observed.push(observed);
        self.widths.push(width);
        self.sets.push(reads);
        self.remembered[place] = Some(id);
        Some(id)
    }

    pub(crate) fn number(&mut self, number: u64) -> Option<TermId> {
        self.add(Term::Number(number), bits(number), number, Reads::NOTHING)
    }

    /// The value that an event has read, of so many bits.
    pub(crate) fn read(&mut self, event: EventId, width: u32, observed: u64) -> Option<TermId> {
        let term = self.add(Term::Read(event), width, observed, Reads::of(event))?;
        self.reads.insert(event, term);
        Some(term)
    }

    /// The value that an event of an untaken branch would read, with this value as an example.
    pub(crate) fn imagined_read(&mut self, event: EventId, width: u32, guess: u64) -> Option<TermId> {
        self.add(Term::Read(event), width, guess, Reads::of(event))
    }

    /// The term of a read; without one, an obstacle: the value is known only if the read is as observed.
    pub(crate) fn pinned(&mut self, read: EventId) -> Option<TermId> {
        match self.reads.get(&read) {
            Some(&term) => Some(term),
            None => self.frozen(0, Reads::of(read)),
        }
    }

    /// Whether the term is the same in all runs.
    pub(crate) fn is_settled(&self, term: TermId) -> bool {
        self.sets[term.index()] == Reads::NOTHING
    }

    /// Zero, even if there is such a term already.
    pub(crate) fn push_zero(&mut self) -> Option<TermId> {
        let id = TermId::from_index(self.terms.len())?;
        self.terms.push(Term::Number(0));
        self.observed.push(0);
        self.widths.push(0);
        self.sets.push(Reads::NOTHING);
        Some(id)
    }

    /// How many terms there are.
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Removes all terms from number `first` on, which must not be in use any more.
    pub(crate) fn take_back(&mut self, first: usize) -> Vec<Term> {
        self.observed.truncate(first);
        self.widths.truncate(first);
        self.sets.truncate(first);
        self.terms.split_off(first)
    }

    /// A value that depends on these reads in an unknown way. None if the set of reads is too large to be represented.
    pub(crate) fn frozen(&mut self, value: u64, reads: Reads) -> Option<TermId> {
        match reads {
            Reads::NOTHING => self.number(value),
            Reads::EVERYTHING => None,
            _ => self.add(Term::Frozen { value, reads }, bits(value), value, reads),
        }
    }

    pub(crate) fn unary(&mut self, op: Unary, width: u32, of: TermId) -> Option<TermId> {
        let (number, operand) = (Scalar::Int(width), self.observed(of));
        let (observed, bits) = match op {
            Unary::Truncate if self.widths[of.index()] <= width => return Some(of),
            Unary::ExtendSign if self.widths[of.index()] < width => return Some(of),
            Unary::Truncate => (number.fit(operand), width),
            Unary::ExtendSign => (number.signed(operand).cast_unsigned(), u64::BITS),
            Unary::IsZero => (u64::from(number.fit(operand) == 0), 1),
        };
        let reads = self.sets[of.index()];
        if reads == Reads::NOTHING {
            return self.number(observed);
        }
        let width = u8::try_from(width).ok()?;
        self.add(Term::Unary { op, width, of }, bits, observed, reads)
    }

    /// None also if it had no value in the run.
    pub(crate) fn binary(
        &mut self,
        sets: &mut Sets<'_>,
        op: Binary,
        width: u32,
        [left, right]: [TermId; 2],
    ) -> Option<TermId> {
        let observed = apply(op, Scalar::Int(width), self.observed(left), self.observed(right))?;
        let (one, other) = (self.sets[left.index()], self.sets[right.index()]);
        if one == Reads::NOTHING && other == Reads::NOTHING {
            return self.number(observed);
        }
        let reads = sets.unite(one, other);
        let bits = match op {
            Binary::Equal | Binary::LessUnsigned | Binary::LessSigned => 1,
            _ => width,
        };
        let width = u8::try_from(width).ok()?;
        self.add(Term::Binary { op, width, left, right }, bits, observed, reads)
    }

    pub(crate) fn choice(
        &mut self,
        sets: &mut Sets<'_>,
        condition: TermId,
        [then, otherwise]: [TermId; 2],
    ) -> Option<TermId> {
        let chosen = if self.observed(condition) == 0 { otherwise } else { then };
        if then == otherwise || self.sets[condition.index()] == Reads::NOTHING {
            return Some(chosen);
        }
        let reads = [condition, then, otherwise].map(|part| self.sets[part.index()]);
        let reads = reads.into_iter().fold(Reads::NOTHING, |all, part| sets.unite(all, part));
        let observed = self.observed(chosen);
        let width = self.widths[then.index()].max(self.widths[otherwise.index()]);
        self.add(Term::Choice { condition, then, otherwise }, width, observed, reads)
    }

    /// Some bits of a term.
    pub(crate) fn extract(
        &mut self,
        sets: &mut Sets<'_>,
        term: TermId,
        from: u32,
        width: u32,
    ) -> Option<TermId> {
        let mut term = term;
        if from > 0 {
            let from = self.number(from.into())?;
            term = self.binary(sets, Binary::ShiftRight, u64::BITS, [term, from])?;
        }
        self.unary(Unary::Truncate, width, term)
    }

    /// The event writes this.
    pub(crate) fn write(&mut self, event: EventId, term: TermId) {
        self.written.push((event, term));
    }

    /// A path constraint of the event: the term keeps its value.
    pub(crate) fn demand(&mut self, event: EventId, term: TermId) {
        if self.sets[term.index()] != Reads::NOTHING {
            let value = Demanded::Number(self.observed(term));
            self.demands.push(Demand { event, term, value });
        }
    }

    /// All terms so far.
    #[cfg(test)]
    pub(crate) fn all(&self) -> &[Term] {
        &self.terms
    }

    /// How many path constraints there are so far.
    pub(crate) fn demanded(&self) -> u64 {
        self.demands.len() as u64
    }

    /// The result for so many events, with the reads that steer events in an unknown way. Sets become such of `to`. So
    /// do those of `beside`, terms that were taken back.
    pub(crate) fn finish<'a>(
        mut self,
        events: usize,
        found: &Dependence,
        to: &mut Dependence,
        beside: impl IntoIterator<Item = &'a mut Vec<Term>>,
    ) -> Option<Values> {
        for index in 0..events {
            let Some(read) = EventId::from_index(index) else { break };
            if let Some(event) = found.steered_by(read) {
                let term = self.pinned(read)?;
                self.demand(event, term);
            }
        }
        self.demands.sort_by_key(|demand| demand.event);
        self.demands.dedup();
        let mut beside: Vec<&mut Term> = beside.into_iter().flatten().collect();
        let moved = self.move_sets(found, to, &beside);
        for term in &mut beside {
            **term = moved_term(found, &moved, **term);
        }
        let mut values = Values::new(events, false);
        values.set_obstacles(self.obstacles);
        for term in self.terms {
            values.add(moved_term(found, &moved, term))?;
        }
        self.written.into_iter().for_each(|(event, term)| values.set_written(event, term));
        self.demands.into_iter().for_each(|demand| values.demand(demand));
        Some(values)
    }

    /// Makes the sets that terms name sets of another dependence; what becomes of each union.
    fn move_sets(&self, found: &Dependence, to: &mut Dependence, beside: &[&mut Term]) -> Vec<Reads> {
        use foretell_trace::dependence::Part;
        let mut needed = vec![false; found.union_count()];
        let mark = |needed: &mut [bool], reads| {
            if let Part::Both(union, ..) = found.part(reads) {
                needed[union] = true;
            }
        };
        for term in self.terms.iter().chain(beside.iter().map(|term| &**term)) {
            if let Term::Frozen { reads, .. } = term {
                mark(&mut needed, *reads);
            }
        }
        for (union, parts) in found.unions().iter().enumerate().rev() {
            if needed[union] {
                parts.iter().for_each(|&part| mark(&mut needed, part));
            }
        }
        let mut moved = Vec::with_capacity(needed.len());
        for (&[first, second], needed) in found.unions().iter().zip(needed) {
            let [first, second] = [first, second].map(|part| translate(found, &moved, part));
            moved.push(if needed { to.unite(first, second) } else { Reads::NOTHING });
        }
        moved
    }
}

/// A term whose sets are those of another dependence, where unions were moved to.
fn moved_term(found: &Dependence, moved: &[Reads], term: Term) -> Term {
    match term {
        Term::Frozen { value, reads } => Term::Frozen { value, reads: translate(found, moved, reads) },
        other => other,
    }
}

/// A set of one dependence as one of another, where its unions were moved to.
fn translate(found: &Dependence, moved: &[Reads], reads: Reads) -> Reads {
    use foretell_trace::dependence::Part;
    match found.part(reads) {
        Part::Both(union, ..) => moved.get(union).copied().unwrap_or(Reads::NOTHING),
        Part::Nothing | Part::Everything | Part::Read(_) => reads,
    }
}

/// Sets of reads of the current thread.
pub(crate) struct Sets<'a> {
    pub(crate) tracker: &'a mut Tracker,
    pub(crate) thread: usize,
}

impl Sets<'_> {
    pub(crate) fn unite(&mut self, one: Reads, other: Reads) -> Reads {
        self.tracker.unite(self.thread, one, other)
    }
}

/// How many bits a number has.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Where a term is remembered.
fn place(term: &Term) -> usize {
    use std::hash::{Hash as _, Hasher as _};
    let mut hasher = rustc_hash::FxHasher::default();
    term.hash(&mut hasher);
    (hasher.finish() >> 20) as usize % REMEMBERED
}

/// The result of an operation on numbers of this width.
fn apply(op: Binary, of: Scalar, left: u64, right: u64) -> Option<u64> {
    let (left, right) = (of.fit(left), of.fit(right));
    let (one, other) = (of.signed(left), of.signed(right));
    let shift = || u32::try_from(right).ok().filter(|&bits| bits < of.bits());
    Some(of.fit(match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::DivideUnsigned => left.checked_div(right)?,
        Binary::RemainderUnsigned => left.checked_rem(right)?,
        Binary::DivideSigned | Binary::RemainderSigned if other == 0 => return None,
        Binary::DivideSigned => one.wrapping_div(other).cast_unsigned(),
        Binary::RemainderSigned => one.wrapping_rem(other).cast_unsigned(),
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft => left << shift()?,
        Binary::ShiftRight => left >> shift()?,
        Binary::ShiftRightSigned => (one >> shift()?).cast_unsigned(),
        Binary::Equal => return Some((left == right).into()),
        Binary::LessUnsigned => return Some((left < right).into()),
        Binary::LessSigned => return Some((one < other).into()),
    }))
}
