//! Symbolic values of accesses: what is read and written, in the trace and in memory that only one thread touches.

use foretell_trace::Reads;
use foretell_trace::values::{Binary, Obstacle, TermId, Unary};
use foretell_wire::hook::Update;
use foretell_wire::record::Record;

use super::{Explainer, Kept};
use crate::evaluate::Given;
use crate::follower::Follower;
use crate::follower::given_up::Why;
use crate::follower::symbolic_shadow::SymbolicShadow;
use crate::machine::ProgramPoint;
use crate::part::Part;
use crate::shape::Slot;
use crate::terms::{Origin, Source};
use crate::values::{Scalar, Type};

impl Follower {
    /// The record is of this instruction. Accesses that are part of a lock, say, have records of another kind, with
    /// artificial addresses.
    pub(in crate::follower) fn explain_instruction(&mut self, instruction: u32) {
        let is_recorded = self.again(|_, routine, _, _| routine.is_recorded(instruction));
        if is_recorded != Some(true) {
            self.explain_nothing();
        }
    }

    fn is_vague(&self) -> bool {
        self.explainer.as_ref().is_none_or(|explainer| explainer.access.is_vague)
    }

    /// The address of the access is in this slot. If it was unknown, it is known from here on.
    pub(in crate::follower) fn explain_address(&mut self, pointer: Option<Slot>, record: &Record<'_>) {
        if self.is_vague() {
            return;
        }
        let address = match *record {
            Record::Read { addr, .. }
            | Record::Write { addr, .. }
            | Record::AtomicLoad { addr, .. }
            | Record::AtomicStore { addr, .. }
            | Record::Rmw { addr, .. }
            | Record::ReadRange { addr, .. }
            | Record::WriteRange { addr, .. } => addr,
            _ => return,
        };
        match self.given_slot(pointer).map(|given| given.known[0]) {
            Some(Some(known)) if known != address => self.distrust(),
            Some(None) => self.learn_address(pointer, address),
            _ => {}
        }
    }

    fn learn_address(&mut self, pointer: Option<Slot>, address: u64) {
        self.again(|machine, routine, frame, _| {
            let at = match frame.place {
                ProgramPoint::Before(at) => at,
                ProgramPoint::At(_) | ProgramPoint::After(_) | ProgramPoint::Unknown => return,
            };
            let operand = machine.values(routine, at).find(|&operand| routine.shape.slot(operand) == pointer);
            if let Some(operand) = operand {
                machine.learn(routine, frame, at, (operand, address));
            }
        });
    }

    /// The instruction stores the operand at this position.
    pub(in crate::follower) fn explain_store(&mut self, instruction: u32, position: usize) {
        let stored = if self.is_vague() { None } else { self.operand(instruction, position) };
        if let Some(explainer) = &mut self.explainer {
            explainer.access.stored = stored;
        }
    }

    /// The instruction is a read-modify-write with this operand.
    pub(in crate::follower) fn explain_update(&mut self, instruction: u32) {
        let operand = if self.is_vague() { None } else { self.operand(instruction, 1) };
        let update = self.again(|machine, routine, _, _| {
            let code = machine.numbers(routine, instruction).first()?;
            Update::from_code(u32::try_from(*code).ok()?)
        });
        if let Some(explainer) = &mut self.explainer {
            explainer.access.update = update.flatten().zip(operand);
        }
    }

    /// The instruction is a compare-exchange; returns whether its outcome gets a path constraint.
    pub(in crate::follower) fn explain_exchange(&mut self, instruction: u32) -> bool {
        let expected = if self.is_vague() { None } else { self.operand(instruction, 1) };
        self.explain_store(instruction, 2);
        if let Some(explainer) = &mut self.explainer {
            explainer.access.expected = expected;
        }
        expected.is_some()
    }

    /// The value read depends on more than its bytes.
    pub(in crate::follower) fn explain_nothing(&mut self) {
        if let Some(explainer) = &mut self.explainer {
            explainer.access.is_vague = true;
            explainer.access.read = None;
            explainer.access.sources.clear();
        }
    }

    /// An event has compared its read with the expected value; returns whether the outcome gets a path constraint.
    pub(in crate::follower) fn explain_comparison(&mut self, kept: &Kept) -> bool {
        let Some(explainer) = &mut self.explainer else { return false };
        let Some(expected) = explainer.access.expected else { return false };
        let is_whole = kept.range() == Some(0..explainer.access.sources.len());
        let read = kept.values.map(|[read, _]| read).filter(|_| is_whole && self.has_forked);
        let term = self.compared(kept, read, &expected);
        if let Some((term, explainer)) = term.zip(self.explainer.as_mut()) {
            explainer.terms.demand(kept.event, term);
            return true;
        }
        // The expected value must be as observed for the same event.
        let word = Scalar::Int(kept.bits().clamp(1, u64::BITS));
        let held = self.shadow().and_then(|mut shadow| shadow.symbolic.term(&expected, 0, word));
        let reads = self.shadow().map(|mut shadow| shadow.symbolic.reads(&[expected]));
        let Some(explainer) = &mut self.explainer else { return false };
        match held.or_else(|| explainer.terms.frozen(0, reads?)) {
            Some(term) => explainer.terms.demand(kept.event, term),
            None => self.give_up(Why::NoWay),
        }
        false
    }

    /// Whether the value read equals the expected one, as a term.
    fn compared(&mut self, kept: &Kept, read: Option<u64>, expected: &Given) -> Option<TermId> {
        let word = Scalar::Int(kept.bits());
        let mut shadow = self.shadow()?;
        let symbolic = &mut shadow.symbolic;
        let read = symbolic.terms.read(kept.event, kept.bits(), read?)?;
        let expected = symbolic.term(expected, 0, word)?;
        let same = symbolic.binary(Binary::Equal, word, [read, expected])?;
        // A comparison with another outcome is none of these.
        (symbolic.terms.observed(same) == u64::from(kept.writes)).then_some(same)
    }

    /// The expected value decides, and it is in no event.
    pub(in crate::follower) fn hold_expected(&mut self) {
        let expected = self.explainer.as_ref().and_then(|explainer| explainer.access.expected);
        self.hold(expected.as_slice());
    }

    /// An event reads: what it reads is a term.
    pub(in crate::follower) fn explain_read(&mut self, kept: &Kept, is_result: bool) {
        let Some(explainer) = &mut self.explainer else { return };
        explainer.counts.reads += 1;
        let Some([read, _]) = kept.values else { return };
        let Some(term) = explainer.terms.read(kept.event, kept.bits(), read) else { return };
        let Some(bytes) = kept.range().filter(|_| is_result && !explainer.access.is_vague) else { return };
        // One instruction reads several variables of the trace, so these reads are pinned.
        let is_whole = bytes == (0..explainer.access.sources.len());
        explainer.terms.obstacles.add(Obstacle::InParts, u64::from(!is_whole));
        for (byte, source) in (0..).zip(explainer.access.sources.get_mut(bytes).unwrap_or_default()) {
            let origin = if is_whole { Origin::Term(term) } else { Origin::Made(Reads::of(kept.event)) };
            *source = Some((origin, if is_whole { byte } else { 0 }));
        }
    }

    /// An event writes a term, or a value that depends on these reads.
    pub(in crate::follower) fn explain_write(&mut self, kept: &Kept, reads: Reads) {
        let Some(explainer) = &mut self.explainer else { return };
        let Some([_, written]) = kept.values else {
            explainer.counts.unknown_writes += 1;
            return;
        };
        let term = self.written_term(kept, written);
        if term.is_some_and(|term| self.observed(term) != Some(written)) {
            return self.distrust();
        }
        let Some(explainer) = &mut self.explainer else { return };
        match term {
            Some(_) => explainer.counts.computed_writes += 1,
            None if reads == Reads::NOTHING => explainer.counts.constant_writes += 1,
            None => explainer.counts.frozen_writes += 1,
        }
        if let Some(term) = term.or_else(|| explainer.terms.frozen(written, reads)) {
            explainer.terms.write(kept.event, term);
        }
    }

    fn observed(&self, term: TermId) -> Option<u64> {
        self.explainer.as_ref().map(|explainer| explainer.terms.observed(term))
    }

    /// The term that an event writes, if it is computed from reads.
    fn written_term(&mut self, kept: &Kept, written: u64) -> Option<TermId> {
        let bytes = kept.range().filter(|bytes| !bytes.is_empty())?;
        let explainer = self.explainer.as_deref()?;
        if explainer.access.stored.is_some() || explainer.access.update.is_some() {
            let Origin::Term(term) = self.stored_origin()? else { return None };
            let from = u32::try_from(8 * bytes.start).ok()?;
            let SymbolicShadow { mut symbolic, .. } = self.shadow()?;
            return symbolic.terms.extract(&mut symbolic.sets, term, from, kept.bits());
        }
        // What is copied.
        let sources = explainer.access.sources.get(bytes)?.to_vec();
        self.assembled(&sources, written)
    }

    /// The origin of the stored value.
    fn stored_origin(&mut self) -> Option<Origin> {
        let explainer = self.explainer.as_deref()?;
        let size = u32::try_from(explainer.access.sources.len()).unwrap_or(u32::MAX);
        match (explainer.access.stored, explainer.access.update) {
            (Some(stored), _) if stored.scalar().is_some() => Some(stored.origins[0]),
            (None, Some((update, operand))) if (1..=8).contains(&size) => {
                let (sources, read) = (explainer.access.sources.clone(), explainer.access.read?);
                let old = self.assembled(&sources, read)?;
                let word = Scalar::Int(8 * size);
                let mut shadow = self.shadow()?;
                let operand = shadow.symbolic.term(&operand, 0, word)?;
                shadow.symbolic.update(update, word, [old, operand]).map(Origin::Term)
            }
            _ => None,
        }
    }

    /// Bytes that are not in the trace are read: their sources, and the reads behind those without a source.
    pub(in crate::follower) fn explain_private_read(&mut self, part: Part, bytes: u8) {
        let Some(explainer) = &mut self.explainer else { return };
        let Explainer { threads, access, .. } = &mut **explainer;
        let Some(thread) = threads.get(self.current) else { return };
        let known = thread.memory.get(&part.word);
        for byte in (part.first..part.end).filter(|byte| bytes >> byte & 1 == 1) {
            let offset = usize::try_from(part.offset + u64::from(byte - part.first)).unwrap_or(usize::MAX);
            let Some(source) = access.sources.get_mut(offset) else { continue };
            *source = known.and_then(|known| known[byte as usize]).or_else(|| {
                let reads = self.tracker.load(self.current, part.word, 1 << byte);
                Some((Origin::Made(reads), 0))
            });
        }
    }

    /// Bytes that are left out of the trace are written.
    pub(in crate::follower) fn explain_private_write(&mut self, part: Part, bytes: u8) {
        let Some(explainer) = self.explainer.as_deref() else { return };
        let is_word = explainer.access.stored.is_some() || explainer.access.update.is_some();
        let stored = if is_word { self.stored_origin() } else { None };
        let Some(explainer) = self.explainer.as_deref_mut() else { return };
        explainer.thread(self.current);
        let Explainer { threads, access, .. } = explainer;
        let memory = &mut threads[self.current].memory;
        for byte in (part.first..part.end).filter(|byte| bytes >> byte & 1 == 1) {
            let offset = part.offset + u64::from(byte - part.first);
            let source = match stored {
                Some(origin) => u32::try_from(offset).ok().map(|offset| (origin, offset)),
                None if is_word => None,
                None => usize::try_from(offset).ok().and_then(|offset| *access.sources.get(offset)?),
            };
            let source = source.filter(|(origin, _)| matches!(origin, Origin::Term(_)));
            if source.is_some() || memory.contains_key(&part.word) {
                memory.entry(part.word).or_default()[byte as usize] = source;
            }
        }
        if memory.get(&part.word).is_some_and(|sources| sources.iter().all(Option::is_none)) {
            memory.remove(&part.word);
        }
    }

    /// The result of a load is what was read.
    pub(in crate::follower) fn explain_result(&mut self, result: Slot, found: Reads) {
        let Some(explainer) = self.explainer.as_deref() else { return };
        let Some(read) = explainer.access.read else { return };
        let sources = explainer.access.sources.clone();
        let success = explainer.access.expected.is_some();
        let term = self.assembled(&sources, read);
        self.again(|_, routine, frame, shadow| {
            let (of, first) = match routine.type_at(result as usize) {
                of @ Type::One(first) => (of, first),
                of @ Type::Two([first, Scalar::Int(1)]) if success => (of, first),
                _ => return,
            };
            let terms = &mut shadow.symbolic.terms;
            let term = term.and_then(|term| terms.unary(Unary::Truncate, first.bits(), term));
            let origin = match term.filter(|&term| terms.observed(term) == first.fit(read)) {
                Some(term) => Origin::Term(term),
                None => Origin::Made(found),
            };
            frame.put(result as usize, of.fit([Some(read), None]), [origin, Origin::NOTHING]);
        });
    }

    /// The outcome of a compare-exchange gets a path constraint, or is pinned.
    pub(in crate::follower) fn explain_success(&mut self, result: Slot, success: bool) {
        if self.is_vague() {
            return;
        }
        self.again(|_, _, frame, _| {
            let (known, origins) = frame.held(result as usize);
            frame.put(result as usize, [known[0], Some(u64::from(success))], [origins[0], Origin::NOTHING]);
        });
    }

    /// See [`Symbolic::assembled`].
    fn assembled(&mut self, sources: &[Option<Source>], observed: u64) -> Option<TermId> {
        self.shadow()?.symbolic.assembled(sources, observed)
    }
}
