//! Accesses to memory, as reads and writes of the variables that they touch, and the branches around them.

use foretell_symbolic::{Kept, Part, mask, parts};
use foretell_trace::{MemOrder, Op, Value, VarId};
use foretell_wire::hook::MemoryOrder;

use super::{Done, Writer};
use crate::LogError;
use crate::calls::Spot;
use crate::memory::Era;

/// The event of an access to a cell.
#[derive(Clone, Copy)]
pub(super) enum CellAccess {
    Read,
    Write,
    Load(MemOrder),
    Store(MemOrder),
    Update(MemOrder),
}

impl CellAccess {
    /// Whether it reads, and whether it writes.
    pub(super) fn kind(self) -> (bool, bool) {
        match self {
            CellAccess::Read | CellAccess::Load(_) => (true, false),
            CellAccess::Write | CellAccess::Store(_) => (false, true),
            CellAccess::Update(_) => (true, true),
        }
    }

    pub(super) fn is_atomic(self) -> bool {
        !matches!(self, CellAccess::Read | CellAccess::Write)
    }
}

impl Writer<'_> {
    /// A plain access, with the branches that its site implies.
    pub(super) fn among_decisions(&mut self, spot: Spot, access: impl FnOnce(&mut Self) -> Done) -> Done {
        if spot.is_decided {
            self.branch()?;
        }
        access(self)?;
        if let Some(site) = spot.decides {
            self.here.loc = self.naming.spot(site)?.loc;
            self.branch()?;
        }
        Ok(())
    }

    pub(super) fn word(&mut self, addr: u64, size: u8, access: CellAccess, read: u64, written: u64) -> Done {
        let (read, written) = (read.to_le_bytes(), written.to_le_bytes());
        let length = usize::from(size).min(read.len());
        self.access(addr, access, &read[..length], &written[..length])
    }

    pub(super) fn range(&mut self, addr: u64, bytes: &[u8], access: CellAccess) -> Done {
        self.access(addr, access, bytes, bytes)
    }

    /// What was read decides whether there is more to read, so a branch follows on every piece. Pieces are cells, so no
    /// thread can have written only a part of one.
    pub(super) fn scan(&mut self, addr: u64, bytes: &[u8]) -> Done {
        if self.memory.is_shared(addr) {
            return self.opaque();
        }
        let era = self.memory.era(addr);
        for part in parts(addr, bytes.len() as u64) {
            let Some(word) = self.survey.word(era, part.word) else { continue };
            let mut left = part.mask();
            for cell in word.kept_cells(part.first, part.end) {
                let (first, end) = (cell.first.max(part.first), cell.end.min(part.end));
                let offset = part.offset + u64::from(first - part.first);
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let content = bytes.get(start..).unwrap_or_default();
                left &= !mask(first, end);
                self.part(era, Part { first, end, offset, ..part }, CellAccess::Read, content, content)?;
                self.branch()?;
            }
            self.follow(|follower| follower.left_out(true, false, part, left));
        }
        Ok(())
    }

    pub(super) fn fill(&mut self, addr: u64, byte: u8, length: u64) -> Done {
        if self.memory.is_shared(addr) {
            return self.opaque();
        }
        let era = self.memory.era(addr);
        for part in parts(addr, length) {
            self.part(era, part, CellAccess::Write, &[byte; 8], &[byte; 8])?;
        }
        Ok(())
    }

    /// An access to any number of bytes; what was read and what was written are of the same length.
    fn access(&mut self, addr: u64, access: CellAccess, read: &[u8], written: &[u8]) -> Done {
        if self.memory.is_shared(addr) {
            return self.opaque();
        }
        let era = self.memory.era(addr);
        for part in parts(addr, read.len() as u64) {
            let from = usize::try_from(part.offset).unwrap_or(usize::MAX);
            let (read, written) = (read.get(from..), written.get(from..));
            self.part(era, part, access, read.unwrap_or_default(), written.unwrap_or_default())?;
        }
        Ok(())
    }

    /// The part of an access that lies in one word, cell by cell. The values begin with the first byte of the part.
    fn part(&mut self, era: Era, part: Part, access: CellAccess, read: &[u8], written: &[u8]) -> Done {
        let Some(word) = self.survey.word(era, part.word) else { return Ok(()) };
        self.note_content(era, part, access, read, written);
        if word.is_mixed() {
            return self.mixed_part(era, part, word, access, Some(written));
        }
        let mut left = part.mask();
        for cell in word.kept_cells(part.first, part.end) {
            let var = self.variable(era, part.word, cell)?;
            let bytes = (cell.first - part.first) as usize..(cell.end - part.first) as usize;
            let [read, written] =
                [read, written].map(|of| little_endian(of.get(bytes.clone()).unwrap_or_default()));
            let op = exact_op(var, access, self.naming.value(read)?, self.naming.value(written)?);
            let (reads, writes) = access.kind();
            if reads {
                self.note_read();
            }
            if !self.sync.holders.is_waiting(self.here.thread) {
                self.touch(op)?;
            }
            let before = self.events.len();
            self.push(op)?;
            if !self.has_forked && era == Era::STATIC {
                self.statics.note(var, Some(if writes { written } else { read }));
            }
            left &= !mask(cell.first, cell.end);
            if let Some(event) = self.last().filter(|event| event.index() >= before) {
                let offset = |byte: u32| part.offset + u64::from(byte - part.first);
                let (bytes, values) = (offset(cell.first)..offset(cell.end), Some([read, written]));
                let kept = Kept { event, reads, writes, bytes, values };
                self.follow(|follower| follower.kept(&kept));
            }
        }
        let (reads, writes) = access.kind();
        self.follow(|follower| follower.left_out(reads, writes, part, left));
        Ok(())
    }

    /// What the order of a store means where it is made.
    pub(super) fn order_of_store(&mut self, order: MemoryOrder) -> Result<MemOrder, LogError> {
        let continues = self.naming.spot(self.here.site)?.language.stores_continue_sequences();
        Ok(match order_of(order) {
            MemOrder::Relaxed if continues => MemOrder::RelaxedC11,
            order => order,
        })
    }

    pub(super) fn note_read(&mut self) {
        let thread = self.here.thread as usize;
        if self.has_read.len() <= thread {
            self.has_read.resize(thread + 1, false);
        }
        self.has_read[thread] = true;
    }

    pub(super) fn branch(&mut self) -> Done {
        match self.has_read.get_mut(self.here.thread as usize) {
            Some(has_read) if *has_read => {
                *has_read = false;
                self.push(Op::Branch)
            }
            _ => Ok(()),
        }
    }
}

/// The number that these bytes are, the lowest first.
pub(super) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn exact_op(var: VarId, access: CellAccess, read: Value, written: Value) -> Op {
    let (read, written) = (Some(read), Some(written));
    match access {
        CellAccess::Read => Op::Read { var, value: read },
        CellAccess::Write => Op::Write { var, value: written },
        CellAccess::Load(order) => Op::Load { var, value: read, order },
        CellAccess::Store(order) => Op::Store { var, value: written, order },
        CellAccess::Update(order) => Op::Rmw { var, read, written, order },
    }
}

pub(super) fn order_of(order: MemoryOrder) -> MemOrder {
    match order {
        MemoryOrder::Relaxed => MemOrder::Relaxed,
        MemoryOrder::Acquire => MemOrder::Acquire,
        MemoryOrder::Release => MemOrder::Release,
        MemoryOrder::AcqRel => MemOrder::AcqRel,
        MemoryOrder::SeqCst => MemOrder::SeqCst,
    }
}
