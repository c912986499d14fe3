//! The second pass: events.

mod ahead;
mod cause;
mod lives;
mod meeting;
mod mixed;
mod unseen;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use foretell_symbolic::{Follower, GivenUp, Kept, Limits, Part, Seed, ValueCounts, mask, parts};
use foretell_trace::symbol::SymbolContent;
use foretell_trace::{
    BarrierId, CondId, Dependence, Ending, Event, EventId, Listed, Loc, LockId, MemOrder, Names, Op, SemId,
    Symbol, ThreadId, Value, Values, VarId,
};
use foretell_wire::holders::{Holders, Mode};
use foretell_wire::hook::Order;
use foretell_wire::record::{EXIT, Record, SyncOp};

use self::meeting::Meeting;
use crate::LogError;
use crate::calls::{Calls, Change as CallChange, Spot};
use crate::cells::{Cell, Extent, Survey, is_torn_atomic};
use crate::contents::Contents;
use crate::counter::Counter;
use crate::memory::{Change, Era, Memory, Purpose};
use crate::merge::{Passed, Unread, Until, for_each_until};
use crate::places::{Place, Places};
use crate::records::{Entry, site_of};
use ahead::Exploring;
use cause::{Cause, Modules};
use unseen::{Doubted, Touched};

type Done = Result<(), LogError>;

/// Goes through the log for the second time. None if it turns out only now that a fence is needed, see
/// [`Survey::has_opaque`]: without it the trace would claim too much.
pub(crate) fn write(
    log: &[u8],
    survey: &Survey,
    follow: Follow,
    until: Until<'_>,
) -> Result<Option<Written>, LogError> {
    let mut writer = Writer::new(survey, Contents::read(log, until.go_on)?);
    if follow >= Follow::Reads {
        writer.followers.push(Follower::default());
    }
    if follow >= Follow::Values {
        writer.followers.push(Follower::explaining());
    }
    let passed = for_each_until(log, until, |entry| writer.entry(entry))?;
    let (ending, unread) = (ending(passed), passed.unread);
    writer.finish()?;
    if writer.lacks_fence {
        return Ok(None);
    }
    let events = Listed::new(writer.events, writer.names, ending).with_steps(writer.counter.finish());
    let mut followers = writer.followers.into_iter();
    let Some((mut dependence, given_up)) = followers.next().map(Follower::finish) else {
        return Ok(Some(Written {
            events,
            given_up: Vec::new(),
            values: None,
            unread,
            shared: survey.shared,
        }));
    };
    let values = followers.next().and_then(|follower| follower.finish_values(&mut dependence));
    let values = values.map(|(values, counts, _)| (values, counts));
    Ok(Some(Written {
        events: events.with_dependence(dependence),
        given_up,
        values,
        unread,
        shared: survey.shared,
    }))
}

fn ending(passed: Passed) -> Ending {
    if passed.is_complete { Ending::Complete } else { Ending::CutShort }
}

/// What is asked of a log, to look at ways that were not taken.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) limits: &'a Limits,
    /// Only where they lead is wanted.
    pub(crate) is_scouting: bool,
    /// Whether there is time left.
    pub(crate) go_on: &'a dyn Fn() -> bool,
}

/// The answer.
pub(crate) enum Ways {
    /// There was no time, or there is too much to tell.
    TooMuch,
    /// A fence is needed, as with [`write`].
    LacksFence,
    /// What is touched on them.
    Touches(Vec<Imagination>),
    /// The run, how its values are computed, and what lies beside it.
    Beside(Box<(Listed, Values, Vec<Seed>)>),
}

/// Memory that a thread would touch on a way that was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Imagination {
    pub(crate) era: Era,
    pub(crate) thread: u32,
    pub(crate) part: Part,
    pub(crate) writes: bool,
}

/// Goes through the log, and along ways beside it.
pub(crate) fn explore(log: &[u8], survey: &Survey, question: Question<'_>) -> Result<Ways, LogError> {
    let mut writer = Writer::new(survey, Contents::read(log, question.go_on)?);
    writer.followers.push(Follower::exploring());
    writer.exploring = Some(Box::new(Exploring::new(question)));
    let until = Until { go_on: question.go_on, ..Until::END };
    let passed = for_each_until(log, until, |entry| writer.entry(entry))?;
    if passed.unread.is_some() {
        return Ok(Ways::TooMuch);
    }
    writer.finish()?;
    if writer.lacks_fence {
        return Ok(Ways::LacksFence);
    }
    if let Some(exploring) = writer.exploring.filter(|_| question.is_scouting) {
        return Ok(Ways::Touches(exploring.into_touches()));
    }
    let mut dependence = Dependence::new(writer.events.len());
    let events = Listed::new(writer.events, writer.names, ending(passed)).with_steps(writer.counter.finish());
    let found = writer.followers.pop().and_then(|follower| follower.finish_values(&mut dependence));
    let Some((values, _, seeds)) = found else { return Ok(Ways::TooMuch) };
    Ok(Ways::Beside(Box::new((events.with_dependence(dependence), values, seeds))))
}

/// What is wanted beside the events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Follow {
    /// Nothing.
    Nothing,
    /// Which reads matter to what.
    Reads,
    /// That, and how values are computed.
    Values,
}

/// What comes of a log.
pub(crate) struct Written {
    pub(crate) events: Listed,
    /// Where threads could not be followed.
    pub(crate) given_up: Vec<GivenUp>,
    /// How values are computed.
    pub(crate) values: Option<(Values, ValueCounts)>,
    /// What was not read of the log, if anything.
    pub(crate) unread: Option<Unread>,
    /// How many accesses were to memory that other processes may see.
    pub(crate) shared: u64,
}

struct Writer<'a> {
    survey: &'a Survey,
    /// What static memory held at the first fork.
    contents: Contents<'a>,
    /// What was last seen in each of its variables before that.
    seen: FxHashMap<VarId, Option<u64>>,
    /// The events that tell what its variables held, as long as nobody has accessed these, and nothing happened that nobody understands.
    shown: FxHashMap<VarId, EventId>,
    memory: Memory,
    /// The modules that were loaded so far.
    places: Places,
    names: Names,
    events: Vec<Event>,
    /// The variables that were named so far, by the addresses of their cells.
    vars: FxHashMap<(Era, u64), VarId>,
    /// Those beside them that accesses of mixed words are compared by.
    mixed: MixedVars,
    /// What is known of each site that was met so far.
    spots: FxHashMap<u64, Spot>,
    /// The calls that each thread is in.
    calls: FxHashMap<u32, Calls>,
    /// Who holds each lock.
    holders: Holders<LockId>,
    /// Threads that something happened to while they waited which nobody understands. It is told when they go on.
    owed: BTreeSet<u32>,
    /// The stack of each thread.
    stacks: FxHashMap<u32, Era>,
    /// Where each thread has come to its last barrier: that is where it leaves it, whoever tells so.
    arrivals: FxHashMap<u32, u64>,
    /// The barriers at each address.
    barriers: FxHashMap<u64, Meeting>,
    /// How often semaphores were created at each address.
    semaphores: FxHashMap<u64, u32>,
    /// How many permits each of those has whose creation was seen.
    permits: FxHashMap<SemId, u64>,
    /// Whether each thread has read anything since its last branch.
    has_read: Vec<bool>,
    /// The variable that everything reads which we do not understand, and how often it was read.
    outside: Option<VarId>,
    outside_reads: u32,
    /// There should have been a read of it, but nobody had expected that.
    lacks_fence: bool,
    /// How many events there were after the last such read.
    fenced: usize,
    /// The variables that were written since then.
    written: BTreeSet<VarId>,
    /// Those that were accessed since something happened last that nobody understands.
    touched: Touched,
    /// The writes that stand for what that may have written, of variables that nobody has accessed since.
    doubted: FxHashMap<VarId, Doubted>,
    /// How often it has happened.
    opaques: u64,
    /// What each variable held when it was accessed last, as far as that is known.
    held: FxHashMap<VarId, Value>,
    /// Whether there was ever more than one thread.
    has_forked: bool,
    /// Which reads matter to what comes after them, and how values are computed.
    followers: Vec<Follower>,
    /// What lies beside the run, if anybody wants to know.
    exploring: Option<Box<Exploring<'a>>>,
    /// How far each thread has come.
    counter: Counter,
    /// Who has called `exit`. It ends with the process: handlers and destructors may still run.
    exiting: Option<u32>,
    /// What is being told: who did it, and where.
    thread: u32,
    site: u64,
    loc: Loc,
    /// The site of the record that it is told for.
    told_at: u64,
    /// Why nothing may be reordered around it, should that be so.
    cause: Cause,
    /// What is called where.
    modules: Modules<'a>,
}

/// The variables of words that atomics access as a whole and others in parts, see `mixed`.
#[derive(Default)]
struct MixedVars {
    /// By the address of the bytes.
    bytes: FxHashMap<(Era, u64), VarId>,
    /// By the word, the sizes and who uses the first of them.
    sizes: FxHashMap<(Era, u64, [Extent; 2], u32), VarId>,
}

/// How an access to a cell is to be told.
#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
    Load(MemOrder),
    Store(MemOrder),
    Update(MemOrder),
}

impl Access {
    /// Whether it reads, and whether it writes.
    fn kind(self) -> (bool, bool) {
        match self {
            Access::Read | Access::Load(_) => (true, false),
            Access::Write | Access::Store(_) => (false, true),
            Access::Update(_) => (true, true),
        }
    }

    fn is_atomic(self) -> bool {
        !matches!(self, Access::Read | Access::Write)
    }
}

impl<'a> Writer<'a> {
    fn new(survey: &'a Survey, contents: Contents<'a>) -> Writer<'a> {
        Writer {
            survey,
            contents,
            seen: FxHashMap::default(),
            shown: FxHashMap::default(),
            memory: Memory::default(),
            places: Places::default(),
            names: Names::default(),
            events: Vec::new(),
            vars: FxHashMap::default(),
            mixed: MixedVars::default(),
            spots: FxHashMap::default(),
            calls: FxHashMap::default(),
            holders: Holders::default(),
            owed: BTreeSet::new(),
            stacks: FxHashMap::default(),
            arrivals: FxHashMap::default(),
            barriers: FxHashMap::default(),
            semaphores: FxHashMap::default(),
            permits: FxHashMap::default(),
            has_read: Vec::new(),
            outside: None,
            outside_reads: 0,
            lacks_fence: false,
            fenced: 0,
            written: BTreeSet::new(),
            touched: Touched::default(),
            doubted: FxHashMap::default(),
            opaques: 0,
            held: FxHashMap::default(),
            has_forked: false,
            followers: Vec::new(),
            exploring: None,
            counter: Counter::default(),
            exiting: None,
            thread: 0,
            site: 0,
            loc: Loc(Symbol::ZERO),
            told_at: 0,
            cause: Cause::default(),
            modules: Modules::default(),
        }
    }

    /// Does something with whoever follows the threads.
    fn follow(&mut self, act: impl Fn(&mut Follower)) {
        self.followers.iter_mut().for_each(act);
    }

    fn entry(&mut self, entry: Entry<'a>) -> Done {
        match entry {
            Entry::Module(module) => {
                self.spots.clear();
                self.modules.add(&module);
                self.follow(|follower| follower.add(&module));
                self.places.add(&module)
            }
            Entry::Record(thread, record) => self.record(thread, &record),
        }
    }

    fn record(&mut self, thread: u32, record: &Record<'_>) -> Done {
        self.thread = thread;
        self.site = site_of(record);
        self.loc = self.spot(self.site)?.loc;
        (self.told_at, self.cause) = (self.site, Cause::of(record));
        self.counter.record(thread, record);
        if let Record::Sync { op: SyncOp::LocalEnd, object, other, .. } = *record
            && !self.ends_something(object, other)
        {
            return Ok(());
        }
        self.follow(|follower| follower.turn_to(thread));
        let site = self.site;
        self.follow(|follower| follower.begin(record, site));
        self.look_beside();
        let change = self.memory.follow(thread, record);
        match change {
            Some(Change::Ends(era)) => self.give_back(era)?,
            Some(Change::Begins(era)) if self.memory.about(era).purpose == Purpose::Stack(thread) => {
                self.stacks.insert(thread, era);
            }
            _ => {}
        }
        match *record {
            _ if is_torn_atomic(record) || record.is_vague() => self.opaque(),
            Record::Read { addr, size, value, .. } => {
                self.among_decisions(|writer| writer.word(addr, size, Access::Read, value, 0))
            }
            Record::Write { addr, size, value, .. } => {
                self.among_decisions(|writer| writer.word(addr, size, Access::Write, 0, value))
            }
            Record::AtomicLoad { addr, size, value, order, .. } => {
                self.word(addr, size, Access::Load(order_of(order)), value, 0)
            }
            Record::AtomicStore { addr, size, value, order, .. } => {
                let order = self.order_of_store(order)?;
                self.word(addr, size, Access::Store(order), 0, value)
            }
            Record::Rmw { addr, size, read, written, order, .. } => {
                self.word(addr, size, Access::Update(order_of(order)), read, written)
            }
            Record::ReadRange { addr, bytes, .. } => self.range(addr, bytes, Access::Read),
            Record::Scan { addr, bytes, .. } => self.scan(addr, bytes),
            Record::WriteRange { addr, bytes, .. } => self.range(addr, bytes, Access::Write),
            Record::Copy { to, from, bytes, .. } => {
                self.range(from, bytes, Access::Read)?;
                self.range(to, bytes, Access::Write)
            }
            Record::Fill { addr, byte, length, .. } => self.fill(addr, byte, length),
            Record::Fence { order } => self.push(Op::Fence { order: order_of(order) }),
            Record::Branch { .. } => self.branch(),
            Record::Opaque { .. } => self.opaque(),
            Record::Clock(_) | Record::Ahead(_) => Ok(()),
            Record::Enter { site } => {
                self.calls().enter(site);
                Ok(())
            }
            Record::Exit { calls } => {
                self.calls().exit(calls);
                Ok(())
            }
            Record::Sync { op, object, other, .. } => self.sync(op, object, other),
        }?;
        self.follow(Follower::end_access);
        match change {
            Some(Change::Begins(era)) => {
                self.take_over(era)?;
                self.all_kept(era, Op::Alloc)?;
                self.write_for_allocator(era)?;
                self.create_handed_over(era)
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, op: Op) -> Done {
        if self.holders.is_waiting(self.thread) && !matches!(op, Op::Wait { .. }) {
            // What a library does to its own memory while the thread waits in it.
            return Ok(());
        }
        let thread = self.thread_id(self.thread)?;
        // A thread that waits does nothing before it is back, not even return from a call.
        let is_back = matches!(op, Op::Woken { .. } | Op::WaitTimeout { .. });
        if has_calls(op) && !is_back {
            self.tell_calls(thread)?;
        }
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
            Op::Fork(_) => self.has_forked = true,
            _ => {}
        }
        if let Some(access) = op.access().filter(|_| !self.shown.is_empty()) {
            self.shown.remove(&access.var);
        }
        self.add(Event::new(thread, op, self.loc));
        Ok(())
    }

    fn add(&mut self, event: Event) {
        self.counter.event(self.thread, event.op);
        self.events.push(event);
        self.follow(Follower::event);
    }

    /// The event that was told last.
    fn last(&self) -> Option<EventId> {
        EventId::from_index(self.events.len().checked_sub(1)?)
    }

    /// Tells of a read that nobody made.
    fn push_invented_read(&mut self, op: Op) -> Done {
        let before = self.events.len();
        self.push(op)?;
        if let Some(event) = self.last().filter(|event| event.index() >= before) {
            self.follow(|follower| follower.invented_read(event));
        }
        Ok(())
    }

    /// Tells of a write that nobody made.
    fn push_invented_write(&mut self, op: Op) -> Done {
        let before = self.events.len();
        self.push(op)?;
        let is_told = |event: &EventId| event.index() >= before;
        // To allocate memory is to write nothing.
        let writes = op.access().is_some_and(|access| access.kind.writes());
        if let Some(event) = self.last().filter(is_told).filter(|_| writes) {
            let number = op.value_written().and_then(|value| match value.0.content() {
                SymbolContent::Number(number) => Some(u64::from(number)),
                SymbolContent::Named(_) => None,
            });
            self.follow(|follower| follower.invented_write(event, number));
        }
        Ok(())
    }

    /// The calls that the thread is in.
    fn calls(&mut self) -> &mut Calls {
        self.calls.entry(self.thread).or_default()
    }

    /// Tells which functions the thread has left and entered until it came here.
    fn tell_calls(&mut self, thread: ThreadId) -> Done {
        if self.site == 0 {
            return Ok(());
        }
        let mut calls = std::mem::take(self.calls());
        let changes = calls.changes(self.site, |site| self.spot(site))?;
        *self.calls() = calls;
        for change in changes {
            let (op, frame) = match change {
                CallChange::Enter(frame) => (Op::Enter(frame.function), frame),
                CallChange::Exit(frame) => (Op::Exit(frame.function), frame),
            };
            let unknown = self.spot(0)?.loc;
            self.add(Event::new(thread, op, frame.loc.unwrap_or(unknown)));
        }
        Ok(())
    }

    /// A plain access, with the decisions that its site tells of.
    fn among_decisions(&mut self, access: impl FnOnce(&mut Self) -> Done) -> Done {
        let spot = self.spot(self.site)?;
        if spot.is_decided {
            self.branch()?;
        }
        access(self)?;
        if let Some(site) = spot.decides {
            self.loc = self.spot(site)?.loc;
            self.branch()?;
        }
        Ok(())
    }

    fn word(&mut self, addr: u64, size: u8, access: Access, read: u64, written: u64) -> Done {
        let (read, written) = (read.to_le_bytes(), written.to_le_bytes());
        let length = usize::from(size).min(read.len());
        self.access(addr, access, &read[..length], &written[..length])
    }

    fn range(&mut self, addr: u64, bytes: &[u8], access: Access) -> Done {
        self.access(addr, access, bytes, bytes)
    }

    /// What was read decides whether there is more to read, so a branch follows on every piece. Pieces are words, or what
    /// others have made of them: nobody can have written only a part of a cell.
    fn scan(&mut self, addr: u64, bytes: &[u8]) -> Done {
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
                self.part(era, Part { first, end, offset, ..part }, Access::Read, content, content)?;
                self.branch()?;
            }
            self.follow(|follower| follower.left_out(true, false, part, left));
        }
        Ok(())
    }

    fn fill(&mut self, addr: u64, byte: u8, length: u64) -> Done {
        if self.memory.is_shared(addr) {
            return self.opaque();
        }
        let era = self.memory.era(addr);
        for part in parts(addr, length) {
            self.part(era, part, Access::Write, &[byte; 8], &[byte; 8])?;
        }
        Ok(())
    }

    /// An access to any number of bytes; what was read and what was written are of the same length.
    fn access(&mut self, addr: u64, access: Access, read: &[u8], written: &[u8]) -> Done {
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
    fn part(&mut self, era: Era, part: Part, access: Access, read: &[u8], written: &[u8]) -> Done {
        let Some(word) = self.survey.word(era, part.word) else { return Ok(()) };
        self.note_content(era, part, access, read, written);
        if word.is_mixed() {
            return self.mixed_part(era, part, word, access);
        }
        let mut left = part.mask();
        for cell in word.kept_cells(part.first, part.end) {
            let var = self.variable(era, part.word, cell)?;
            let bytes = (cell.first - part.first) as usize..(cell.end - part.first) as usize;
            let [read, written] =
                [read, written].map(|of| little_endian(of.get(bytes.clone()).unwrap_or_default()));
            let op = exact_op(var, access, self.value(read)?, self.value(written)?);
            let (reads, writes) = access.kind();
            if reads {
                self.note_read();
            }
            if !self.holders.is_waiting(self.thread) {
                self.touch(op)?;
            }
            let before = self.events.len();
            self.push(op)?;
            if !self.has_forked && era == Era::STATIC {
                self.seen.insert(var, Some(if writes { written } else { read }));
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
    fn order_of_store(&mut self, order: Order) -> Result<MemOrder, LogError> {
        let continues = self.spot(self.site)?.language.stores_continue_sequences();
        Ok(match order_of(order) {
            MemOrder::Relaxed if continues => MemOrder::RelaxedC11,
            order => order,
        })
    }

    fn note_read(&mut self) {
        let thread = self.thread as usize;
        if self.has_read.len() <= thread {
            self.has_read.resize(thread + 1, false);
        }
        self.has_read[thread] = true;
    }

    fn branch(&mut self) -> Done {
        match self.has_read.get_mut(self.thread as usize) {
            Some(has_read) if *has_read => {
                *has_read = false;
                self.push(Op::Branch)
            }
            _ => Ok(()),
        }
    }

    /// An operation on each variable that is kept of an era.
    fn all_kept(&mut self, era: Era, op: impl Fn(VarId) -> Op) -> Done {
        for (address, cell) in self.survey.kept(era) {
            let var = self.variable(era, address, cell)?;
            self.push_invented_write(op(var))?;
        }
        Ok(())
    }

    /// Memory is given back that another thread will have next. Its address is the same, and so would be a pointer to it; but
    /// only once it was given back can the allocator hand it out again. That is told as a word that the one writes and
    /// the other reads, and it orders the two, as the allocators of C and C++ promise.
    fn hand_on(&mut self, era: Era) -> Done {
        if !self.survey.is_handed_on(era) {
            return Ok(());
        }
        let var = self.token(era)?;
        let value = Symbol::number(1).map(Value);
        self.push_invented_write(Op::Store { var, value, order: MemOrder::Release })
    }

    /// The memory of an era was somebody else's before.
    fn take_over(&mut self, era: Era) -> Done {
        for old in self.memory.replaced().to_vec() {
            if self.survey.is_handed_on(old) {
                let var = self.token(old)?;
                let value = Symbol::number(1).map(Value);
                self.push_invented_read(Op::Load { var, value, order: MemOrder::Acquire })?;
                self.push(Op::Branch)?;
            }
        }
        if self.survey.is_taken(era) { self.opaque() } else { Ok(()) }
    }

    /// The word that tells whether the memory of an era was given back.
    fn token(&mut self, era: Era) -> Result<VarId, LogError> {
        let about = self.memory.about(era);
        let name = format!("{} given back", self.survey.places.address(about.start, about));
        Ok(self.names.vars.intern(name.as_bytes())?)
    }

    /// To give memory back that is still used afterwards is told as what it conflicts like, a write of who knows what:
    /// nothing can follow the end of a variable in a trace.
    fn give_back(&mut self, era: Era) -> Done {
        self.hand_on(era)?;
        if self.survey.is_used_after(era) {
            self.all_kept(era, |var| Op::Write { var, value: None })
        } else {
            self.all_kept(era, Op::Free)
        }
    }

    fn sync(&mut self, op: SyncOp, object: u64, other: u64) -> Done {
        match op {
            SyncOp::Begin => self.begin(),
            SyncOp::End if object == EXIT => {
                self.exiting = Some(self.thread);
                self.branch()
            }
            SyncOp::End => {
                // What a thread returns goes to whoever waits for it.
                self.branch()?;
                self.abandon_locks()?;
                self.exiting = self.exiting.filter(|&thread| thread != self.thread);
                if let Some(&stack) = self.stacks.get(&self.thread) {
                    self.hand_on(stack)?;
                }
                self.push(Op::End)
            }
            SyncOp::Fork => {
                if !self.has_forked {
                    self.show_contents()?;
                }
                let child = self.thread_id(number(object))?;
                self.push(Op::Fork(child))
            }
            SyncOp::Join => {
                let child = self.thread_id(number(object))?;
                self.push(Op::Join(child))
            }
            SyncOp::Lock
            | SyncOp::LockShared
            | SyncOp::Unlock
            | SyncOp::TryFailed
            | SyncOp::TrySharedFailed => self.lock_op(op, object),
            SyncOp::Wait | SyncOp::Woken | SyncOp::TimedOut | SyncOp::Notify | SyncOp::NotifyAll => {
                self.cond_op(op, object, other)
            }
            SyncOp::SemInit | SyncOp::SemWait | SyncOp::SemPost => self.semaphore_op(op, object, other),
            SyncOp::Arrive => {
                self.arrivals.insert(self.thread, self.site);
                let led = self.survey.led.contains(&(object, other / 2));
                self.barriers.entry(object).or_default().arrive(other / 2, led);
                let barrier = self.barrier(object)?;
                self.push(Op::Arrive(barrier))
            }
            SyncOp::Depart => {
                if let Some(&site) = self.arrivals.get(&self.thread) {
                    (self.site, self.loc) = (site, self.spot(site)?.loc);
                }
                self.barriers.entry(object).or_default().depart();
                let barrier = self.barrier(object)?;
                self.push(Op::Depart(barrier))
            }
            SyncOp::LocalEnd => self.end_local(object, other),
            SyncOp::Alloc | SyncOp::Free | SyncOp::Shared => Ok(()),
        }
    }

    /// The first thread also brings what was there before it. What static memory holds at first nobody knows before
    /// it is read, be it at the first fork (see [`Writer::show_contents`]), so it is told as memory that becomes usable. And a branch that depends on nothing tells that branches
    /// are recorded, even if there is no other.
    fn begin(&mut self) -> Done {
        self.push(Op::Begin)?;
        if self.thread > 0 {
            return Ok(());
        }
        self.push(Op::Branch)?;
        if self.survey.has_opaque {
            let outside = self.names.vars.intern(b"outside")?;
            self.outside = Some(outside);
            let (value, order) = (Some(Value::ZERO), MemOrder::Relaxed);
            self.push_invented_write(Op::Store { var: outside, value, order })?;
        }
        // A copy of a process begins with the locks of the original.
        for &lock in &self.survey.held {
            self.lock_op(SyncOp::Lock, lock)?;
        }
        self.all_kept(Era::STATIC, Op::Alloc)?;
        self.create_handed_over(Era::STATIC)
    }

    /// The process has ended, and with it who has called `exit`.
    fn finish(&mut self) -> Done {
        let Some(thread) = self.exiting.take() else { return Ok(()) };
        self.thread = thread;
        (self.site, self.loc) = (0, self.spot(0)?.loc);
        self.follow(|follower| follower.turn_to(thread));
        self.push(Op::End)
    }

    /// Memory becomes usable: so do the locks in it that are semaphores, really.
    fn create_handed_over(&mut self, era: Era) -> Done {
        for &lock in self.survey.handed.semaphores_of(era) {
            self.semaphore_op(SyncOp::SemInit, lock, 1)?;
        }
        Ok(())
    }

    /// An operation on a lock that threads hand over. A failed attempt tells about all that had it.
    fn handed_over_op(&mut self, op: SyncOp, object: u64) -> Done {
        match op {
            SyncOp::Lock => self.semaphore_op(SyncOp::SemWait, object, 0),
            SyncOp::Unlock => self.semaphore_op(SyncOp::SemPost, object, 0),
            _ => self.opaque(),
        }
    }

    /// The thread ends with locks that are given up for it later. Nothing is reordered around its end, nor around that.
    fn abandon_locks(&mut self) -> Done {
        let survey = self.survey;
        for &object in survey.handed.abandoned_by(self.thread) {
            let lock: LockId = self.names.locks.intern(self.name(object).as_bytes())?;
            while self.holders.holds(lock).iter().any(|&(holder, _)| holder == self.thread) {
                self.opaque()?;
                if let Some((_, mode)) = self.holders.give_up(lock, self.thread) {
                    self.push(release(lock, mode))?;
                }
            }
        }
        Ok(())
    }

    fn lock_op(&mut self, op: SyncOp, object: u64) -> Done {
        if self.survey.handed.is_semaphore(self.memory.era(object), object) {
            return self.handed_over_op(op, object);
        }
        let name = self.name(object);
        let lock: LockId = self.names.locks.intern(name.as_bytes())?;
        match op {
            SyncOp::Lock => {
                self.make_way(lock, Mode::Alone)?;
                self.holders.take(lock, self.thread, Mode::Alone);
                self.push(Op::Acquire(lock))
            }
            SyncOp::LockShared => {
                self.make_way(lock, Mode::Shared)?;
                self.holders.take(lock, self.thread, Mode::Shared);
                self.push(Op::AcquireShared(lock))
            }
            SyncOp::TryFailed if self.holders.is_held(lock, Mode::Alone) => {
                self.push(Op::TryAcquireFailed(lock))
            }
            SyncOp::TrySharedFailed if self.holders.is_held(lock, Mode::Shared) => {
                self.push(Op::TryAcquireSharedFailed(lock))
            }
            SyncOp::TryFailed | SyncOp::TrySharedFailed => self.opaque(),
            _ => match self.holders.give_up(lock, self.thread) {
                Some((holder, mode)) if holder == self.thread => self.push(release(lock, mode)),
                Some((holder, mode)) => self.release_for(holder, lock, mode),
                None => self.opaque(),
            },
        }
    }

    /// Whoever else is still said to hold the lock has given it up unseen.
    fn make_way(&mut self, lock: LockId, mode: Mode) -> Done {
        for (holder, how) in self.holders.in_the_way(lock, self.thread, mode) {
            self.release_for(holder, lock, how)?;
        }
        Ok(())
    }

    /// Another thread's hold of a lock has ended, nobody knows when: somewhere before here, and nothing can be reordered
    /// around that.
    fn release_for(&mut self, holder: u32, lock: LockId, mode: Mode) -> Done {
        self.opaque()?;
        let thread = std::mem::replace(&mut self.thread, holder);
        self.follow(|follower| follower.turn_to(holder));
        self.follow(Follower::be_lost);
        self.push(release(lock, mode))?;
        self.thread = thread;
        self.follow(|follower| follower.turn_to(thread));
        self.opaque()
    }

    fn cond_op(&mut self, op: SyncOp, object: u64, other: u64) -> Done {
        let name = self.name(object);
        let cond: CondId = self.names.conds.intern(name.as_bytes())?;
        let lock = if other == 0 { String::new() } else { self.name(other) };
        let op = match op {
            SyncOp::Notify => Op::Notify(cond),
            SyncOp::NotifyAll => Op::NotifyAll(cond),
            _ => {
                let lock = self.names.locks.intern(lock.as_bytes())?;
                if op == SyncOp::Wait {
                    if !self.holders.wait(lock, self.thread) {
                        return self.opaque();
                    }
                } else {
                    self.make_way(lock, Mode::Alone)?;
                    if !self.holders.has_waited(lock, self.thread) {
                        return self.lock_op(SyncOp::Lock, other);
                    }
                }
                match op {
                    SyncOp::Wait => Op::Wait { cond, lock },
                    SyncOp::Woken => Op::Woken { cond, lock },
                    _ => Op::WaitTimeout { cond, lock },
                }
            }
        };
        self.push(op)?;
        if !self.holders.is_waiting(self.thread) && self.owed.remove(&self.thread) {
            self.opaque()?;
        }
        Ok(())
    }

    fn semaphore_op(&mut self, op: SyncOp, object: u64, permits: u64) -> Done {
        if op == SyncOp::SemInit {
            let count = self.semaphores.entry(object).or_default();
            *count = count.saturating_add(1);
        }
        let sem = self.semaphore(object)?;
        let left = self.permits.get(&sem).copied();
        let (op, left) = match op {
            SyncOp::SemInit => (Op::SemInit { sem, permits: number(permits) }, Some(permits)),
            SyncOp::SemPost => (Op::SemPost(sem), left.map(|left| left.saturating_add(1))),
            _ => {
                if left == Some(0) {
                    // Somebody has given the permit unseen, nobody knows when: somewhere before here.
                    self.opaque()?;
                    self.push(Op::SemPost(sem))?;
                    self.opaque()?;
                }
                (Op::SemWait(sem), left.map(|left| left.saturating_sub(1)))
            }
        };
        if let Some(left) = left {
            self.permits.insert(sem, left);
        }
        self.push(op)
    }

    fn semaphore(&mut self, object: u64) -> Result<SemId, LogError> {
        let name = match self.semaphores.get(&object).copied().unwrap_or(0) {
            0 | 1 => self.name(object),
            count => format!("{}#{count}", self.name(object)),
        };
        Ok(self.names.sems.intern(name.as_bytes())?)
    }

    fn barrier(&mut self, object: u64) -> Result<BarrierId, LogError> {
        let name = match self.barriers.get(&object).map_or(0, Meeting::count) {
            0 => self.name(object),
            count => format!("{}#{}", self.name(object), count + 1),
        };
        Ok(self.names.barriers.intern(name.as_bytes())?)
    }

    fn thread_id(&mut self, thread: u32) -> Result<ThreadId, LogError> {
        Ok(self.names.threads.intern(name_of(thread).as_bytes())?)
    }

    /// What an address is called now.
    fn name(&self, addr: u64) -> String {
        self.survey.places.address(addr, self.memory.about(self.memory.era(addr)))
    }

    fn variable(&mut self, era: Era, word: u64, cell: Cell) -> Result<VarId, LogError> {
        let addr = word + u64::from(cell.first);
        if let Some(&var) = self.vars.get(&(era, addr)) {
            return Ok(var);
        }
        let mut name = self.survey.places.address(addr, self.memory.about(era));
        if self.survey.word(era, word).is_some_and(|word| word.is_mixed()) {
            name.push_str(" as a whole");
        }
        // Two eras may have the same name, where nothing but the address is known.
        let var = self.names.vars.renew(name.as_bytes())?;
        self.vars.insert((era, addr), var);
        Ok(var)
    }

    fn spot(&mut self, site: u64) -> Result<Spot, LogError> {
        if let Some(&spot) = self.spots.get(&site) {
            return Ok(spot);
        }
        let place = self.places.site(site);
        let loc = Loc(self.names.symbol(place.location.as_bytes())?);
        let function = self.names.labels.intern(place.function.as_bytes())?;
        let Place { caller, is_decided, decides, language, .. } = place;
        let spot = Spot { loc, function, caller, is_decided, decides, language };
        self.spots.insert(site, spot);
        Ok(spot)
    }

    fn value(&mut self, number: u64) -> Result<Value, LogError> {
        match u32::try_from(number).ok().and_then(Symbol::number) {
            Some(symbol) => Ok(Value(symbol)),
            None => Ok(Value(self.names.symbol(number.to_string().as_bytes())?)),
        }
    }
}

/// What a thread is called.
pub(crate) fn name_of(thread: u32) -> String {
    if thread == 0 { "main".to_string() } else { format!("T{thread}") }
}

/// The number that these bytes are, the lowest first.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn release(lock: LockId, mode: Mode) -> Op {
    match mode {
        Mode::Alone => Op::Release(lock),
        Mode::Shared => Op::ReleaseShared(lock),
    }
}

fn exact_op(var: VarId, access: Access, read: Value, written: Value) -> Op {
    let (read, written) = (Some(read), Some(written));
    match access {
        Access::Read => Op::Read { var, value: read },
        Access::Write => Op::Write { var, value: written },
        Access::Load(order) => Op::Load { var, value: read, order },
        Access::Store(order) => Op::Store { var, value: written, order },
        Access::Update(order) => Op::Rmw { var, read, written, order },
    }
}

fn order_of(order: Order) -> MemOrder {
    match order {
        Order::Relaxed => MemOrder::Relaxed,
        Order::Acquire => MemOrder::Acquire,
        Order::Release => MemOrder::Release,
        Order::AcqRel => MemOrder::AcqRel,
        Order::SeqCst => MemOrder::SeqCst,
    }
}

/// Whether anybody may want to know the calls in which this happened.
fn has_calls(op: Op) -> bool {
    !matches!(op, Op::Branch | Op::Begin | Op::End | Op::Alloc(_))
}

fn number(wide: u64) -> u32 {
    u32::try_from(wide).unwrap_or(u32::MAX)
}
