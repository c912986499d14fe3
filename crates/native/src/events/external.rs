//! External writes: uninstrumented code may read and write any memory where it is called.
//!
//! An unmodelled operation is a fence, with reads of what was written before it, and writes of unknown values that
//! stand for what it may have written. Whether it has written a variable shows when that is read next.

use std::collections::BTreeSet;

use foretell_symbolic::Follower;
use foretell_trace::{EventId, MemOrder, Op, Symbol, Value, VarId};
use rustc_hash::FxHashMap;

use super::cause::Cause;
use super::{Done, Writer};

/// What uninstrumented code may have read and written.
#[derive(Default)]
pub(super) struct ExternalWrites {
    /// The variable that every fence reads; none if no fence was expected.
    pub(super) fence_var: Option<VarId>,
    /// How often it was read.
    fences: u32,
    /// A fence was needed, but not expected.
    pub(super) lacks_fence: bool,
    /// How many events there were after the last unmodelled operation.
    fenced: usize,
    /// The variables that were written since then.
    written: BTreeSet<VarId>,
    /// The variables that were accessed since the last unmodelled operation.
    touched: Touched,
    /// The writes that stand for what such operations may have written, of variables that were not accessed since.
    doubted: FxHashMap<VarId, Doubted>,
    /// How many unmodelled operations there were.
    opaques: u64,
    /// What each variable held when it was accessed last, as far as that is known.
    held: FxHashMap<VarId, Value>,
}

/// A write that stands for what may have been written externally.
#[derive(Clone, Copy, Debug)]
struct Doubted {
    event: EventId,
    /// How many unmodelled operations there were by then.
    opaques: u64,
}

impl ExternalWrites {
    /// This is the next event.
    pub(super) fn event(&mut self, op: Op) {
        match op {
            Op::Write { var, .. } | Op::Store { var, .. } | Op::Rmw { var, .. } => {
                self.written.insert(var);
            }
            Op::Free(var) => {
                self.written.remove(&var);
                self.touched.remove(var);
                self.held.remove(&var);
                self.doubted.remove(&var);
            }
            _ => {}
        }
    }

    /// What the variable holds is not known any more.
    pub(super) fn forget(&mut self, var: VarId) {
        self.held.remove(&var);
    }
}

/// Variables, each once. To add one that is there already, as most are, costs next to nothing.
#[derive(Debug, Default)]
struct Touched {
    /// In the order in which they came, with those that were removed.
    list: Vec<VarId>,
    /// Whether a variable is there.
    is_in: Vec<bool>,
}

impl Touched {
    fn insert(&mut self, var: VarId) {
        if self.is_in.len() <= var.index() {
            self.is_in.resize(var.index() + 1, false);
        }
        if !std::mem::replace(&mut self.is_in[var.index()], true) {
            self.list.push(var);
        }
    }

    fn remove(&mut self, var: VarId) {
        if let Some(is_in) = self.is_in.get_mut(var.index()) {
            *is_in = false;
        }
    }

    /// Says no if there was something that is not any more.
    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn take(&mut self) -> Vec<VarId> {
        let mut taken = std::mem::take(&mut self.list);
        taken.retain(|var| std::mem::take(&mut self.is_in[var.index()]));
        taken
    }
}

impl Writer<'_> {
    /// A variable of the program is about to be accessed. If that is the first time since an external write is
    /// possible, and it is read and holds what it held before, then it was not written. Otherwise it was written at
    /// an unknown moment, and nothing is reordered around the read that shows it. Before the first fork the moment
    /// makes no difference: no other thread could have looked.
    pub(super) fn touch(&mut self, op: Op) -> Done {
        let (Op::Read { var, .. }
        | Op::Write { var, .. }
        | Op::Load { var, .. }
        | Op::Store { var, .. }
        | Op::Rmw { var, .. }) = op
        else {
            return Ok(());
        };
        self.external.touched.insert(var);
        let (held, read) = (self.external.held.get(&var).copied(), op.value_read());
        let holds = op.value_written().or(read);
        match holds {
            Some(holds) => self.external.held.insert(var, holds),
            None => self.external.held.remove(&var),
        };
        let Some(doubted) = self.external.doubted.remove(&var) else { return Ok(()) };
        let is_sure = !self.has_forked || (doubted.opaques == self.external.opaques && read == held);
        if let Some(Op::Store { value, .. }) =
            self.events.get_mut(doubted.event.index()).map(|event| &mut event.op)
        {
            *value = read.filter(|_| is_sure);
        }
        if self.has_forked && read.is_some() && held.is_some() && read != held {
            let (site, cause) = (std::mem::take(&mut self.here.site), self.here.cause);
            self.here.cause = Cause::ExternalWrite;
            self.fence()?;
            (self.here.site, self.here.cause) = (site, cause);
        }
        Ok(())
    }

    /// An unmodelled operation may have read and written any memory. So everything before it happens before,
    /// everything after it after, and memory is then as it was: what was written since the last time is read between
    /// two fences, where no other thread can race with that. One thread alone needs none of this. What memory holds
    /// after it is unknown, unless it is read before it is written again: see [`Writer::doubt_memory`].
    pub(super) fn opaque(&mut self) -> Done {
        self.external.opaques += 1;
        self.forget_contents();
        self.follow(Follower::be_lost);
        self.doubt_contents();
        if self.sync.holders.is_waiting(self.here.thread) {
            self.sync.owed.insert(self.here.thread);
            return Ok(());
        }
        if self.events.len() == self.external.fenced {
            return Ok(());
        }
        // These accesses are not the program's, so they are in none of its functions.
        self.here.site = 0;
        if !self.has_forked {
            return self.doubt_memory();
        }
        self.fence()?;
        let written = std::mem::take(&mut self.external.written);
        if !written.is_empty() || !self.external.touched.is_empty() {
            // These accesses are the fence's, and their location says so.
            let loc = self.fence_location(self.here.cause)?;
            let loc = std::mem::replace(&mut self.here.loc, loc);
            for var in written {
                self.push_invented_read(Op::Load { var, value: None, order: MemOrder::Relaxed })?;
            }
            self.push(Op::Branch)?;
            self.doubt_memory()?;
            self.here.loc = loc;
            self.fence()?;
        }
        self.external.fenced = self.events.len();
        Ok(())
    }

    /// What was accessed so far may have been written externally, so unknown values are written to it here. What was
    /// not accessed since the last unmodelled operation was written there already.
    fn doubt_memory(&mut self) -> Done {
        for var in self.external.touched.take() {
            self.push(Op::Store { var, value: None, order: MemOrder::Relaxed })?;
            let opaques = self.external.opaques;
            self.external.doubted.extend(self.last().map(|event| (var, Doubted { event, opaques })));
            self.external.written.remove(&var);
            self.statics.doubt(var);
        }
        Ok(())
    }

    /// A read of a value that no event wrote: the check of the trace makes it a fence.
    fn fence(&mut self) -> Done {
        let Some(var) = self.external.fence_var else {
            self.external.lacks_fence = true;
            return Ok(());
        };
        self.external.fences = self.external.fences.saturating_add(1);
        let value = Symbol::number(self.external.fences).map(Value);
        let loc = self.fence_location(self.here.cause)?;
        let loc = std::mem::replace(&mut self.here.loc, loc);
        let told = self.push_invented_read(Op::Load { var, value, order: MemOrder::Relaxed });
        self.here.loc = loc;
        told
    }
}
