//! What is around a thread that goes another way than it went.

use foretell_symbolic::{Environment, Footprint, LockHolder, Part, TouchedVar, parts};
use foretell_trace::{Loc, LockId, Op, ThreadId, VarId};
use foretell_wire::holders::HoldMode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::access::CellAccess;
use super::{Imagination, Question, Writer};
use crate::calls::{Calls, Change as CallChange};
use crate::cells::{Cell, Standing};
use crate::memory::{Era, Purpose};

/// The part of an address that makes the number of a variable where nothing but where ways lead is wanted.
const NUMBERS: u64 = (1 << 30) - 1;

/// What is known beside the trace, for untaken branches.
pub(super) struct Exploring<'a> {
    question: Question<'a>,
    /// What is touched there.
    touches: FxHashSet<Imagination>,
    /// What memory holds, eight bytes at a time.
    contents: FxHashMap<(Era, u64), [Option<u8>; 8]>,
}

impl<'a> Exploring<'a> {
    pub(super) fn new(question: Question<'a>) -> Exploring<'a> {
        Exploring { question, touches: FxHashSet::default(), contents: FxHashMap::default() }
    }

    pub(super) fn into_touches(self) -> Vec<Imagination> {
        self.touches.into_iter().collect()
    }

    /// What some bytes of a word hold, from the first of them on.
    fn content(&self, era: Era, part: Part) -> [Option<u8>; 8] {
        let mut content = self.contents.get(&(era, part.word)).copied().unwrap_or_default();
        content.rotate_left(part.first as usize);
        content
    }
}

impl Writer<'_> {
    /// Goes the untaken branches of what the thread has just decided.
    pub(super) fn look_beside(&mut self) {
        let Some(mut follower) = self.followers.pop_if(|follower| follower.has_forks()) else { return };
        if let Some(mut exploring) = self.exploring.take() {
            let limits = exploring.question.limits;
            let mut surroundings =
                Surroundings { writer: self, exploring: &mut exploring, calls: Calls::default() };
            follower.explore(limits, &mut surroundings);
            self.exploring = Some(exploring);
        }
        self.followers.push(follower);
    }

    /// A part of a word was accessed; what was read and written begins with its first byte.
    pub(super) fn note_content(
        &mut self,
        era: Era,
        part: Part,
        access: CellAccess,
        read: &[u8],
        written: &[u8],
    ) {
        let Some(exploring) = &mut self.exploring else { return };
        let is_read = matches!(access, CellAccess::Read | CellAccess::Load(_));
        let bytes = if is_read { read } else { written };
        let content = exploring.contents.entry((era, part.word)).or_default();
        let content = &mut content[part.first as usize..part.end as usize];
        for (held, byte) in content.iter_mut().zip(bytes) {
            *held = Some(*byte);
        }
    }

    /// It is not known any more what memory holds.
    pub(super) fn forget_contents(&mut self) {
        if let Some(exploring) = &mut self.exploring {
            exploring.contents = FxHashMap::default();
        }
    }
}

/// The writer, and the calls on the way.
struct Surroundings<'w, 's, 'q> {
    writer: &'w mut Writer<'s>,
    exploring: &'w mut Exploring<'q>,
    calls: Calls,
}

impl Surroundings<'_, '_, '_> {
    /// Variables of the trace.
    fn variables(&mut self, era: Era, part: Part, cells: &[Cell]) -> Option<Footprint> {
        let content = self.exploring.content(era, part);
        let mut spots = Vec::new();
        for &cell in cells {
            let var = self.writer.variable(era, part.word, cell).ok()?;
            let (first, end) = (cell.first - part.first, cell.end - part.first);
            spots.push(TouchedVar { var, first, end, guess: number(&content[first as usize..end as usize]) });
        }
        Some(Footprint::Variables(spots))
    }

    /// Whether no thread can have changed the memory without a record. Libraries write without a record what belongs to
    /// them, such as `errno`: it lies among the thread-local variables, and these on the stack or where no thread has
    /// records. Writes to buffers that the program passes have records.
    fn is_up_to_date(&self, era: Era, part: Part, is_named: bool) -> bool {
        match self.writer.memory.about(era).purpose {
            Purpose::Heap(_) | Purpose::Part(_) | Purpose::Object(_) => true,
            Purpose::Static => {
                let first = part.word + u64::from(part.first);
                is_named || self.writer.statics.contents.number(first, part.end - part.first).is_some()
            }
            Purpose::Stack(_) | Purpose::Mapped | Purpose::Shared => false,
        }
    }

    /// What will be a variable of the trace once it is known that the thread may touch it.
    fn future_variable(&self, era: Era, part: Part) -> Option<Footprint> {
        let var = VarId::from_index(usize::try_from((part.word + u64::from(part.first)) & NUMBERS).ok()?)?;
        let end = part.end - part.first;
        let guess = number(&self.exploring.content(era, part)[..end as usize]);
        Some(Footprint::Variables(vec![TouchedVar { var, first: 0, end, guess }]))
    }
}

impl Environment for Surroundings<'_, '_, '_> {
    fn thread(&mut self) -> Option<ThreadId> {
        self.writer.naming.thread(self.writer.here.thread).ok()
    }

    fn events(&self) -> usize {
        self.writer.events.len()
    }

    fn since(&self) -> u64 {
        self.writer.counter.since(self.writer.here.thread)
    }

    fn begin(&mut self, left: u32) {
        self.calls = self.writer.calls.get(&self.writer.here.thread).cloned().unwrap_or_default();
        self.calls.exit(left);
    }

    fn enter(&mut self, site: u64) {
        self.calls.enter(site);
    }

    fn leave(&mut self) {
        self.calls.exit(1);
    }

    fn loc(&mut self, site: u64) -> Option<Loc> {
        self.writer.naming.spot(site).ok().map(|spot| spot.loc)
    }

    fn lead_to(&mut self, site: u64) -> Option<(Vec<(Op, Loc)>, Loc)> {
        let changes = self.calls.changes(site, |site| self.writer.naming.spot(site)).ok()?;
        let unknown = self.loc(0)?;
        let told = changes.into_iter().map(|change| match change {
            CallChange::Enter(frame) => (Op::Enter(frame.function), frame.loc.unwrap_or(unknown)),
            CallChange::Exit(frame) => (Op::Exit(frame.function), frame.loc.unwrap_or(unknown)),
        });
        let told = told.collect();
        Some((told, self.loc(site)?))
    }

    fn touch(&mut self, address: u64, size: u32, writes: bool, is_named: bool) -> Option<Footprint> {
        let (thread, era) = (self.writer.here.thread, self.writer.memory.era(address));
        if self.writer.memory.is_shared(address) || self.writer.memory.about(era).given_back {
            return None;
        }
        let mut all = parts(address, size.into());
        let part = all.next().filter(|_| all.next().is_none())?;
        let word = self.writer.survey.word(era, part.word);
        let standing = word.map_or(Standing::Untouched, |word| word.standing(thread, part, writes));
        let (content, is_scouting) = (self.exploring.content(era, part), self.exploring.question.is_scouting);
        let touch = match standing {
            Standing::Kept(cells) => self.variables(era, part, &cells)?,
            Standing::Own | Standing::Constant if !writes && !self.is_up_to_date(era, part, is_named) => {
                return None;
            }
            Standing::Own => Footprint::Own(content),
            Standing::Constant => Footprint::Constant(content),
            Standing::Untouched if is_named && era == Era::STATIC => Footprint::Own(content),
            Standing::Others if is_scouting => self.future_variable(era, part)?,
            Standing::Untouched | Standing::Others | Standing::Mixed => return None,
        };
        if is_scouting {
            self.exploring.touches.insert(Imagination { era, thread, part, writes });
        }
        Some(touch)
    }

    fn lock(&self, address: u64) -> Option<(LockId, LockHolder)> {
        let lock: LockId = self.writer.naming.names.locks.get(&self.writer.address_name(address))?;
        let held = match self.writer.sync.holders.holds(lock) {
            [] => LockHolder::Free,
            [(holder, HoldMode::Alone)] if *holder == self.writer.here.thread => LockHolder::Own,
            _ => LockHolder::Other,
        };
        Some((lock, held))
    }
}

/// The number that bytes are, the lowest first; what is not known counts as zero.
fn number(bytes: &[Option<u8>]) -> u64 {
    bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(byte.unwrap_or(0)))
}
