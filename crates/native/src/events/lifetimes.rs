//! Memory begins and ends: allocations, stacks and local variables. Both conflict with all accesses, like a write.

use foretell_symbolic::parts;
use foretell_trace::{MemOrder, Op, Symbol, Value, VarId};
use foretell_wire::record::LARGEST_LOCAL;

use super::access::CellAccess;
use super::{Done, Writer};
use crate::memory::Era;

impl Writer<'_> {
    /// An operation on each variable that is kept of an era.
    pub(super) fn all_kept(&mut self, era: Era, op: impl Fn(VarId) -> Op) -> Done {
        for (address, cell) in self.survey.kept(era) {
            let var = self.variable(era, address, cell)?;
            self.push_invented_write(op(var))?;
        }
        Ok(())
    }

    /// Memory is freed that another thread will get next. The allocator hands it out again only after it was freed.
    /// That is modelled by an atomic variable that `free` writes and the allocation reads; it orders the two, as the
    /// allocators of C and C++ guarantee.
    pub(super) fn hand_on(&mut self, era: Era) -> Done {
        if !self.survey.is_handed_on(era) {
            return Ok(());
        }
        let var = self.naming.given_back(&self.memory, era)?;
        let value = Symbol::number(1).map(Value);
        self.push_invented_write(Op::Store { var, value, order: MemOrder::Release })
    }

    /// The memory of an era belonged to another thread before.
    pub(super) fn take_over(&mut self, era: Era) -> Done {
        for old in self.memory.replaced().to_vec() {
            if self.survey.is_handed_on(old) {
                let var = self.naming.given_back(&self.memory, old)?;
                let value = Symbol::number(1).map(Value);
                self.push_invented_read(Op::Load { var, value, order: MemOrder::Acquire })?;
                self.push(Op::Branch)?;
            }
        }
        if self.survey.is_taken(era) { self.opaque() } else { Ok(()) }
    }

    /// A free of memory that is still used afterwards is modelled as a write of an unknown value, which conflicts
    /// alike: no event can follow the end of a variable in a trace.
    pub(super) fn free(&mut self, era: Era) -> Done {
        self.hand_on(era)?;
        if self.survey.is_used_after(era) {
            self.all_kept(era, |var| Op::Write { var, value: None })
        } else {
            self.all_kept(era, Op::Free)
        }
    }

    /// Memory that was allocated by one thread and touched by another before any thread wrote to it. No event of the
    /// trace would conflict if the other thread came too early, so the allocation is modelled as a write of an unknown
    /// value.
    pub(super) fn write_for_allocator(&mut self, era: Era) -> Done {
        let survey = self.survey;
        for (address, cell) in survey.kept(era) {
            let word = survey.word(era, address).unwrap_or_default();
            if !word.is_mixed() && word.is_foreign(cell) {
                let var = self.variable(era, address, cell)?;
                self.push_invented_write(Op::Write { var, value: None })?;
            }
        }
        Ok(())
    }

    /// Whether the end of this memory has events. If not, the thread need not be followed there, as no instruction of
    /// the code belongs to it.
    pub(super) fn ends_something(&self, addr: u64, bytes: u64) -> bool {
        let era = self.memory.era(addr);
        parts(addr, bytes.min(LARGEST_LOCAL)).any(|part| {
            let word = self.survey.word(era, part.word).filter(|word| word.is_ended(part));
            word.is_some_and(|word| word.is_mixed() || word.kept_cells(part.first, part.end).next().is_some())
        })
    }

    /// The end of a local variable. Its memory is thread-local again, and the next variable there has the same name in
    /// the trace; so this is modelled as a write.
    pub(super) fn end_local(&mut self, addr: u64, bytes: u64) -> Done {
        let (survey, era) = (self.survey, self.memory.era(addr));
        for part in parts(addr, bytes.min(LARGEST_LOCAL)) {
            let Some(word) = survey.word(era, part.word).filter(|word| word.is_ended(part)) else { continue };
            if word.is_mixed() {
                self.mixed_part(era, part, word, CellAccess::Write, None)?;
                continue;
            }
            for cell in word.kept_cells(part.first, part.end) {
                let var = self.variable(era, part.word, cell)?;
                self.external.forget(var);
                self.push_invented_write(Op::Write { var, value: None })?;
            }
        }
        Ok(())
    }
}
