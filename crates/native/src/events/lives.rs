//! The beginning and the end of memory, where these are no events of their own: both conflict with all accesses, like
//! a write.

use foretell_symbolic::parts;
use foretell_trace::Op;
use foretell_wire::record::LARGEST_LOCAL;

use super::{Access, Done, Writer};
use crate::memory::Era;

impl Writer<'_> {
    /// Memory that was allocated by one thread and touched by another before anybody wrote to it. Nothing in the
    /// trace would tell if the other one came too early, so that is told as a write of who knows what, by who
    /// allocates.
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

    /// Whether anything is told of the end of this memory. If not, nobody needs to follow the thread there: the code has no
    /// instruction that would say where it is.
    pub(super) fn ends_something(&self, addr: u64, bytes: u64) -> bool {
        let era = self.memory.era(addr);
        parts(addr, bytes.min(LARGEST_LOCAL)).any(|part| {
            let word = self.survey.word(era, part.word).filter(|word| word.is_ended(part));
            word.is_some_and(|word| word.is_mixed() || word.kept_cells(part.first, part.end).next().is_some())
        })
    }

    /// A local variable is no more. Its memory is its thread's own again, and the next variable there has the same
    /// name in the trace; so that is told as a write.
    pub(super) fn end_local(&mut self, addr: u64, bytes: u64) -> Done {
        let (survey, era) = (self.survey, self.memory.era(addr));
        for part in parts(addr, bytes.min(LARGEST_LOCAL)) {
            let Some(word) = survey.word(era, part.word).filter(|word| word.is_ended(part)) else { continue };
            if word.is_mixed() {
                self.mixed_part(era, part, word, Access::Write)?;
                continue;
            }
            for cell in word.kept_cells(part.first, part.end) {
                let var = self.variable(era, part.word, cell)?;
                self.held.remove(&var);
                self.push_invented_write(Op::Write { var, value: None })?;
            }
        }
        Ok(())
    }
}
