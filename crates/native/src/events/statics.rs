//! Static memory at the first fork.
//!
//! Until the first thread starts another one, it is alone: static memory holds what it holds then, whichever code wrote
//! it. Variables whose initial values no event shows are read there. That races with nothing, as all other threads are
//! started later.

use foretell_trace::{EventId, MemOrder, Op, VarId};
use rustc_hash::FxHashMap;

use super::{Done, Writer};
use crate::contents::Contents;
use crate::memory::Era;

/// The content of static memory at the first fork, and what the trace shows of it.
pub(super) struct StaticContents<'a> {
    /// What it holds.
    pub(super) contents: Contents<'a>,
    /// What each variable held when it was accessed last before the fork; none if that is not known.
    seen: FxHashMap<VarId, Option<u64>>,
    /// The reads at the fork, of variables that were not accessed since; emptied by the first unmodelled operation.
    shown: FxHashMap<VarId, EventId>,
}

impl<'a> StaticContents<'a> {
    pub(super) fn new(contents: Contents<'a>) -> StaticContents<'a> {
        StaticContents { contents, seen: FxHashMap::default(), shown: FxHashMap::default() }
    }

    /// Before the fork: an access shows that a variable holds this, or that nothing is known of it.
    pub(super) fn note(&mut self, var: VarId, holds: Option<u64>) {
        self.seen.insert(var, holds);
    }

    /// Uninstrumented code may have written a variable. If it still holds the same value, that needs an event.
    pub(super) fn doubt(&mut self, var: VarId) {
        self.seen.entry(var).and_modify(|seen| *seen = None);
    }

    /// A variable is accessed.
    pub(super) fn accessed(&mut self, op: Op) {
        if let Some(access) = op.access().filter(|_| !self.shown.is_empty()) {
            self.shown.remove(&access.var);
        }
    }
}

impl Writer<'_> {
    /// The first thread is about to start another one. Reads the variables whose values no access shows, or whose
    /// values differ from the last one seen.
    pub(super) fn show_contents(&mut self) -> Done {
        let (survey, here) = (self.survey, (self.here.site, self.here.loc));
        (self.here.site, self.here.loc) = (0, self.naming.spot(0)?.loc);
        for (address, cell) in survey.kept(Era::STATIC) {
            let first = address + u64::from(cell.first);
            let word = survey.word(Era::STATIC, address).unwrap_or_default();
            let number = self.statics.contents.number(first, cell.end - cell.first);
            let Some(number) = number else { continue };
            // Mixed words have no values, and memory may have been allocated in the meantime.
            if word.is_mixed() || self.memory.era(first) != Era::STATIC {
                continue;
            }
            let var = self.variable(Era::STATIC, address, cell)?;
            let is_known = self.statics.seen.get(&var).map(|&seen| seen == Some(number));
            if is_known.unwrap_or(!word.is_overwritten(cell)) {
                continue;
            }
            let (value, order) = (Some(self.naming.value(number)?), MemOrder::Relaxed);
            let op = Op::Load { var, value, order };
            self.touch(op)?;
            self.push(op)?;
            self.statics.shown.extend(self.last().map(|event| (var, event)));
        }
        (self.here.site, self.here.loc) = here;
        Ok(())
    }

    /// Uninstrumented code may have written any memory. What a variable holds that was not accessed since the fork is
    /// unknown then: all its accesses come after this, in every schedule.
    pub(super) fn doubt_contents(&mut self) {
        if self.has_forked {
            for (_, event) in self.statics.shown.drain() {
                if let Some(Op::Load { value, .. }) =
                    self.events.get_mut(event.index()).map(|event| &mut event.op)
                {
                    *value = None;
                }
            }
        }
    }
}
