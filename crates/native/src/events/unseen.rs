//! What code without hooks may have done to memory: where it was called, nobody knows what it read, and what it wrote.

use foretell_symbolic::Follower;
use foretell_trace::{EventId, MemOrder, Op, Symbol, Value, VarId};

use super::cause::Cause;
use super::{Done, Writer};
use crate::memory::Era;

/// A write that stands for what may have been written unseen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubted {
    event: EventId,
    /// How often something had happened by then that nobody understands.
    opaques: u64,
}

/// Variables, each once. To add one that is there already, as most are, costs next to nothing.
#[derive(Debug, Default)]
pub(super) struct Touched {
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

    pub(super) fn remove(&mut self, var: VarId) {
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
    /// A variable of the program is about to be accessed. If that is the first time since something may have written it unseen, and it is read and holds what it held
    /// before, then it was not written. Otherwise it was, nobody knows when, and nothing is reordered around the read that shows it. Before there are threads it is all the same when: nobody
    /// else could have looked.
    pub(super) fn touch(&mut self, op: Op) -> Done {
        let (Op::Read { var, .. }
        | Op::Write { var, .. }
        | Op::Load { var, .. }
        | Op::Store { var, .. }
        | Op::Rmw { var, .. }) = op
        else {
            return Ok(());
        };
        self.touched.insert(var);
        let (held, read) = (self.held.get(&var).copied(), op.value_read());
        let holds = op.value_written().or(read);
        match holds {
            Some(holds) => self.held.insert(var, holds),
            None => self.held.remove(&var),
        };
        let Some(doubted) = self.doubted.remove(&var) else { return Ok(()) };
        let is_sure = !self.has_forked || (doubted.opaques == self.opaques && read == held);
        if let Some(Op::Store { value, .. }) =
            self.events.get_mut(doubted.event.index()).map(|event| &mut event.op)
        {
            *value = read.filter(|_| is_sure);
        }
        if self.has_forked && read.is_some() && held.is_some() && read != held {
            let (site, cause) = (std::mem::take(&mut self.site), self.cause);
            self.cause = Cause::ExternalWrite;
            self.fence()?;
            (self.site, self.cause) = (site, cause);
        }
        Ok(())
    }

    /// Something may have read and written any memory unseen. So everything before it happens before, everything after it
    /// after, and memory is then as it was: what was written since the last time is read between two fences, where
    /// nobody else can come to race with that. One thread alone needs none of this. What memory holds after it nobody knows,
    /// unless it is read before it is written again: see [`Writer::doubt_memory`].
    pub(super) fn opaque(&mut self) -> Done {
        self.opaques += 1;
        self.forget_contents();
        self.follow(Follower::be_lost);
        self.doubt_contents();
        if self.holders.is_waiting(self.thread) {
            self.owed.insert(self.thread);
            return Ok(());
        }
        if self.events.len() == self.fenced {
            return Ok(());
        }
        // These are nobody's accesses, so they are in nobody's function.
        self.site = 0;
        if !self.has_forked {
            return self.doubt_memory();
        }
        self.fence()?;
        let written = std::mem::take(&mut self.written);
        if !written.is_empty() || !self.touched.is_empty() {
            // These accesses are the fence's, and their location says so.
            let loc = self.fence_location(self.cause)?;
            let loc = std::mem::replace(&mut self.loc, loc);
            for var in written {
                self.push_invented_read(Op::Load { var, value: None, order: MemOrder::Relaxed })?;
            }
            self.push(Op::Branch)?;
            self.doubt_memory()?;
            self.loc = loc;
            self.fence()?;
        }
        self.fenced = self.events.len();
        Ok(())
    }

    /// What was accessed so far may have been written unseen, so somebody writes it here, nobody knows what. What has not been accessed since that happened
    /// last was written then already.
    fn doubt_memory(&mut self) -> Done {
        for var in self.touched.take() {
            self.push(Op::Store { var, value: None, order: MemOrder::Relaxed })?;
            let opaques = self.opaques;
            self.doubted.extend(self.last().map(|event| (var, Doubted { event, opaques })));
            self.written.remove(&var);
            // Should static memory still hold what was seen there, that has to be told.
            self.seen.entry(var).and_modify(|seen| *seen = None);
        }
        Ok(())
    }

    /// A read of a value that nobody wrote: the check of the trace makes it a fence.
    fn fence(&mut self) -> Done {
        let Some(var) = self.outside else {
            self.lacks_fence = true;
            return Ok(());
        };
        self.outside_reads = self.outside_reads.saturating_add(1);
        let value = Symbol::number(self.outside_reads).map(Value);
        let loc = self.fence_location(self.cause)?;
        let loc = std::mem::replace(&mut self.loc, loc);
        let told = self.push_invented_read(Op::Load { var, value, order: MemOrder::Relaxed });
        self.loc = loc;
        told
    }

    /// The first thread is about to start another one. Until now it was alone, so all static memory held what it holds now, whoever has written it.
    /// Where nobody tells that by accessing it, or where it is not what was seen there last, somebody reads it here. There is no race with that:
    /// all who come later are started later.
    pub(super) fn show_contents(&mut self) -> Done {
        let (survey, here) = (self.survey, (self.site, self.loc));
        (self.site, self.loc) = (0, self.spot(0)?.loc);
        for (address, cell) in survey.kept(Era::STATIC) {
            let first = address + u64::from(cell.first);
            let word = survey.word(Era::STATIC, address).unwrap_or_default();
            let Some(number) = self.contents.number(first, cell.end - cell.first) else { continue };
            // Nobody knows the values of mixed words, and memory may have become somebody's in the meantime.
            if word.is_mixed() || self.memory.era(first) != Era::STATIC {
                continue;
            }
            let var = self.variable(Era::STATIC, address, cell)?;
            let is_known = self.seen.get(&var).map(|&seen| seen == Some(number));
            if is_known.unwrap_or(!word.is_overwritten(cell)) {
                continue;
            }
            let (value, order) = (Some(self.value(number)?), MemOrder::Relaxed);
            let op = Op::Load { var, value, order };
            self.touch(op)?;
            self.push(op)?;
            self.shown.extend(self.last().map(|event| (var, event)));
        }
        (self.site, self.loc) = here;
        Ok(())
    }

    /// Something may have written any memory unseen. What a variable holds that nobody has accessed so far is unknown then: all its accesses come after this, in every schedule.
    fn doubt_contents(&mut self) {
        if self.has_forked {
            for (_, event) in self.shown.drain() {
                if let Some(Op::Load { value, .. }) =
                    self.events.get_mut(event.index()).map(|event| &mut event.op)
                {
                    *value = None;
                }
            }
        }
    }
}
