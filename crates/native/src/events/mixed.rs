//! Words that atomic accesses use as a whole, and other accesses in parts.
//!
//! A part of an atomic access alone would be an access that the machine cannot make, so the word is one variable, the
//! *whole*. Whatever writes a part leaves the rest, so it counts as an update of the whole; its values are left out, so
//! that each read is pinned to its write. It keeps the memory orders of its accesses, and as it is only ever updated,
//! no release sequence ends: more order than the languages promise.
//!
//! The whole never races but with the end of its memory. Beside it stand variables that do nothing else:
//!
//! * one for each run of bytes that all accesses have either all of or none of: plain accesses of it race with atomic
//!   ones, and with each other, as everywhere. An access comes there after what it acquires and before what it
//!   releases.
//! * where Rust rules, one for each two sizes and each thread that uses the first of them: accesses of that thread
//!   with that size count as plain there, and those of all others with the other size as atomic. So two atomic
//!   accesses race if and only if they are of different sizes. An access comes there before anything else: what it
//!   acquires itself does not make up for its size.
//!
//! A thread that has come to one of these and not to the next is still about to make its access: it has published
//! nothing. Their writes have values: a write of an unknown value stands for the end of memory.

use foretell_symbolic::{Kept, Part};
use foretell_trace::{MemOrder, Op, VarId};

use super::access::{CellAccess, little_endian};
use super::{Done, Writer};
use crate::cells::{Extent, Word};
use crate::memory::Era;

impl Writer<'_> {
    /// The part of an access that lies in such a word. What it writes begins with the first byte of the part; the end
    /// of memory writes nothing known.
    pub(super) fn mixed_part(
        &mut self,
        era: Era,
        part: Part,
        word: Word,
        access: CellAccess,
        written: Option<&[u8]>,
    ) -> Done {
        let Some(whole) = word.kept_cells(part.first, part.end).next() else {
            let (reads, writes) = access.kind();
            self.follow(|follower| follower.left_out(reads, writes, part, part.mask()));
            return Ok(());
        };
        let var = self.variable(era, part.word, whole)?;
        self.compare_sizes(era, part, access, written)?;
        match access {
            CellAccess::Load(_) => {
                self.access_whole(var, part, access)?;
                self.compare_bytes(era, part, word, access, written)
            }
            CellAccess::Update(order) if order.acquires() => {
                let order = MemOrder::Acquire;
                self.push_invented_read(Op::Load { var, value: None, order })?;
                self.compare_bytes(era, part, word, access, written)?;
                self.access_whole(var, part, access)
            }
            _ => {
                self.compare_bytes(era, part, word, access, written)?;
                self.access_whole(var, part, access)
            }
        }
    }

    fn access_whole(&mut self, var: VarId, part: Part, access: CellAccess) -> Done {
        let op = whole_op(var, access);
        let writes = matches!(op, Op::Rmw { .. });
        self.note_read();
        if !self.sync.holders.is_waiting(self.here.thread) {
            self.touch(op)?;
        }
        let before = self.events.len();
        self.push(op)?;
        if !self.has_forked {
            self.statics.note(var, None);
        }
        if let Some(event) = self.last().filter(|event| event.index() >= before) {
            let bytes = part.offset..part.offset + u64::from(part.end - part.first);
            let kept = Kept { event, reads: true, writes, bytes, values: None };
            self.follow(|follower| follower.kept(&kept));
        }
        let (reads, writes) = access.kind();
        self.follow(|follower| follower.left_out(reads, writes, part, 0));
        Ok(())
    }

    /// Plain accesses to some of the bytes race with all others.
    fn compare_bytes(
        &mut self,
        era: Era,
        part: Part,
        word: Word,
        access: CellAccess,
        written: Option<&[u8]>,
    ) -> Done {
        for cell in word.separate_cells(part.first, part.end) {
            let var = self.naming.bytes_of_mixed(&self.memory, era, part.word, cell)?;
            let bytes = (cell.first - part.first) as usize..(cell.end - part.first) as usize;
            let written = written.map(|written| written.get(bytes).unwrap_or_default());
            self.compare(var, access.kind().1, access.is_atomic(), written)?;
        }
        Ok(())
    }

    /// An access to a variable that is only there to compare accesses.
    fn compare(&mut self, var: VarId, writes: bool, is_atomic: bool, written: Option<&[u8]>) -> Done {
        let order = MemOrder::Relaxed;
        let value = written.map(|written| self.naming.value(little_endian(written))).transpose()?;
        match (writes, is_atomic) {
            (false, false) => self.push_invented_read(Op::Read { var, value: None }),
            (false, true) => self.push_invented_read(Op::Load { var, value: None, order }),
            (true, false) => self.push_invented_write(Op::Write { var, value }),
            (true, true) => self.push_invented_write(Op::Store { var, value, order }),
        }
    }

    /// Atomic accesses of different sizes race, where Rust rules.
    fn compare_sizes(&mut self, era: Era, part: Part, access: CellAccess, written: Option<&[u8]>) -> Done {
        let (survey, thread, (_, writes)) = (self.survey, self.here.thread, access.kind());
        if !access.is_atomic() || !self.naming.spot(self.here.site)?.language.mixed_sizes_race() {
            return Ok(());
        }
        let own = Extent { first: part.first, end: part.end };
        let sizes = survey.sizes(era, part.word);
        let is_counted = sizes.iter().any(|(extent, threads)| *extent == own && threads.contains(&thread));
        let written = written.map(|written| &written[..written.len().min((part.end - part.first) as usize)]);
        for (other, threads) in sizes.iter().filter(|(other, _)| other.overlaps(own) && *other != own) {
            let mut others = threads.iter().copied().filter(|&other| other != thread);
            if own < *other {
                if !is_counted || others.next().is_none() {
                    continue;
                }
                let var =
                    self.naming.sizes_of_mixed(&self.memory, (era, part.word), [own, *other], thread)?;
                self.compare(var, writes, false, written)?;
                continue;
            }
            for user in others {
                let var = self.naming.sizes_of_mixed(&self.memory, (era, part.word), [*other, own], user)?;
                self.compare(var, writes, true, written)?;
            }
        }
        Ok(())
    }
}

fn whole_op(var: VarId, access: CellAccess) -> Op {
    let relaxed = MemOrder::Relaxed;
    let update = |order| Op::Rmw { var, read: None, written: None, order };
    match access {
        CellAccess::Read => Op::Load { var, value: None, order: relaxed },
        CellAccess::Load(order) => Op::Load { var, value: None, order },
        CellAccess::Write | CellAccess::Store(MemOrder::RelaxedC11) => update(relaxed),
        CellAccess::Store(order) | CellAccess::Update(order) => update(order),
    }
}
