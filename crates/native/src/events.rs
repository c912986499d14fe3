//! The second pass: events.

mod access;
mod barrier;
mod cause;
mod external;
mod lifetimes;
mod mixed;
mod naming;
mod statics;
mod surroundings;
mod sync;

use rustc_hash::FxHashMap;

use foretell_symbolic::{Follower, GivenUp, Limits, Part, UntakenPath, ValueCounts, parts};
use foretell_trace::symbol::SymbolContent;
use foretell_trace::{Dependence, Ending, Event, EventId, Listed, Loc, Op, Symbol, ThreadId, Values, VarId};
use foretell_wire::record::{Record, SyncOp};

use crate::LogError;
use crate::calls::{Calls, Change as CallChange};
use crate::cells::{Cell, Survey, is_torn_atomic};
use crate::contents::Contents;
use crate::counter::Counter;
use crate::memory::{Change, Era, Memory, Purpose};
use crate::merge::{Passed, Unread, Until, for_each_until};
use crate::records::{Entry, site_of};
use access::{CellAccess, order_of};
use cause::{Cause, Modules};
use external::ExternalWrites;
use naming::Naming;
use statics::StaticContents;
use surroundings::Exploring;
use sync::SyncState;

pub(crate) use naming::name_of;

type Done = Result<(), LogError>;

/// Goes through the log for the second time. None if it turns out only now that a fence is needed, see
/// [`Survey::has_opaque`]: without it the trace would claim too much.
pub(crate) fn write(
    log: &[u8],
    survey: &Survey,
    follow: Follow,
    until: Until<'_>,
) -> Result<Option<Written>, LogError> {
    let mut writer = Writer::new(survey, Contents::read(log, until.may_continue)?);
    if follow >= Follow::Reads {
        writer.followers.push(Follower::default());
    }
    if follow >= Follow::Values {
        writer.followers.push(Follower::explaining());
    }
    let passed = for_each_until(log, until, |entry| writer.entry(entry))?;
    let (ending, unread) = (ending(passed), passed.unread);
    writer.finish()?;
    if writer.external.lacks_fence {
        return Ok(None);
    }
    let names = writer.naming.finish()?;
    let events = Listed::new(writer.events, names, ending);
    // Steps are counted from the beginning on.
    let has_beginning = crate::dropped(log).is_none();
    let events = if has_beginning { events.with_steps(writer.counter.finish()) } else { events };
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

/// What is asked of a log, to look at untaken branches.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) limits: &'a Limits,
    /// Only where they lead is wanted.
    pub(crate) is_scouting: bool,
    /// Whether there is time left.
    pub(crate) may_continue: &'a dyn Fn() -> bool,
}

/// The answer.
pub(crate) enum Ways {
    /// There was no time, or the log is too large.
    TooMuch,
    /// A fence is needed, as with [`write`].
    LacksFence,
    /// What is touched on them.
    Touches(Vec<Imagination>),
    /// The run, how its values are computed, and what lies beside it.
    Beside(Box<(Listed, Values, Vec<UntakenPath>)>),
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
    let mut writer = Writer::new(survey, Contents::read(log, question.may_continue)?);
    writer.followers.push(Follower::exploring());
    writer.exploring = Some(Box::new(Exploring::new(question)));
    let until = Until { may_continue: question.may_continue, ..Until::END };
    let passed = for_each_until(log, until, |entry| writer.entry(entry))?;
    if passed.unread.is_some() {
        return Ok(Ways::TooMuch);
    }
    writer.finish()?;
    if writer.external.lacks_fence {
        return Ok(Ways::LacksFence);
    }
    if let Some(exploring) = writer.exploring.filter(|_| question.is_scouting) {
        return Ok(Ways::Touches(exploring.into_touches()));
    }
    let mut dependence = Dependence::new(writer.events.len());
    let names = writer.naming.finish()?;
    let events = Listed::new(writer.events, names, ending(passed)).with_steps(writer.counter.finish());
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

/// Writes the events of a log, record by record.
struct Writer<'a> {
    survey: &'a Survey,
    /// Which allocation each address belongs to now.
    memory: Memory,
    /// The record that is being converted.
    here: Here,
    naming: Naming<'a>,
    sync: SyncState,
    external: ExternalWrites,
    statics: StaticContents<'a>,
    events: Vec<Event>,
    /// How far each thread has come.
    counter: Counter,
    /// The calls that each thread is in.
    calls: FxHashMap<u32, Calls>,
    /// Whether each thread has read anything since its last branch.
    has_read: Vec<bool>,
    /// Whether there was ever more than one thread.
    has_forked: bool,
    /// Which reads matter to what comes after them, and how values are computed.
    followers: Vec<Follower>,
    /// Untaken branches, if these are wanted.
    exploring: Option<Box<Exploring<'a>>>,
    /// The code, to name the causes of fences.
    modules: Modules<'a>,
}

/// Where the next event happens.
struct Here {
    thread: u32,
    site: u64,
    loc: Loc,
    /// The site of the record that is being converted.
    record_site: u64,
    /// Why nothing may be reordered around it, should that be so.
    cause: Cause,
}

impl<'a> Writer<'a> {
    fn new(survey: &'a Survey, contents: Contents<'a>) -> Writer<'a> {
        Writer {
            survey,
            memory: Memory::default(),
            here: Here {
                thread: 0,
                site: 0,
                loc: Loc(Symbol::ZERO),
                record_site: 0,
                cause: Cause::default(),
            },
            naming: Naming::new(survey),
            sync: SyncState::default(),
            external: ExternalWrites::default(),
            statics: StaticContents::new(contents),
            events: Vec::new(),
            counter: Counter::default(),
            calls: FxHashMap::default(),
            has_read: Vec::new(),
            has_forked: false,
            followers: Vec::new(),
            exploring: None,
            modules: Modules::default(),
        }
    }

    /// Does something with the executors that follow the threads.
    fn follow(&mut self, act: impl Fn(&mut Follower)) {
        self.followers.iter_mut().for_each(act);
    }

    fn entry(&mut self, entry: Entry<'a>) -> Done {
        match entry {
            Entry::Module(module) => {
                self.modules.add(&module);
                self.follow(|follower| follower.add(&module));
                self.naming.add(&module)
            }
            Entry::Record(thread, record) => self.record(thread, &record),
        }
    }

    fn record(&mut self, thread: u32, record: &Record<'_>) -> Done {
        self.here.thread = thread;
        self.here.site = site_of(record);
        let spot = self.naming.spot(self.here.site)?;
        self.here.loc = spot.loc;
        (self.here.record_site, self.here.cause) = (self.here.site, Cause::of(record));
        self.counter.record(thread, record);
        if let Record::Sync { op: SyncOp::LocalEnd, object, other, .. } = *record
            && !self.ends_something(object, other)
        {
            return Ok(());
        }
        self.follow(|follower| follower.turn_to(thread));
        let site = self.here.site;
        self.follow(|follower| follower.begin(record, site));
        self.look_beside();
        let change = self.memory.follow(thread, record);
        match change {
            Some(Change::Ends(era)) => self.free(era)?,
            Some(Change::Begins(era)) if self.memory.about(era).purpose == Purpose::Stack(thread) => {
                self.sync.stacks.insert(thread, era);
            }
            _ => {}
        }
        self.note_object(record);
        match *record {
            _ if is_torn_atomic(record) || record.is_vague() => self.opaque(),
            Record::Read { addr, size, value, .. } => {
                self.among_decisions(spot, |writer| writer.word(addr, size, CellAccess::Read, value, 0))
            }
            Record::Write { addr, size, value, .. } => {
                self.among_decisions(spot, |writer| writer.word(addr, size, CellAccess::Write, 0, value))
            }
            Record::AtomicLoad { addr, size, value, order, .. } => {
                self.word(addr, size, CellAccess::Load(order_of(order)), value, 0)
            }
            Record::AtomicStore { addr, size, value, order, .. } => {
                let order = self.order_of_store(order)?;
                self.word(addr, size, CellAccess::Store(order), 0, value)
            }
            Record::Rmw { addr, size, read, written, order, .. } => {
                self.word(addr, size, CellAccess::Update(order_of(order)), read, written)
            }
            Record::ReadRange { addr, bytes, .. } => self.range(addr, bytes, CellAccess::Read),
            Record::Scan { addr, bytes, .. } => self.scan(addr, bytes),
            Record::WriteRange { addr, bytes, .. } => self.range(addr, bytes, CellAccess::Write),
            Record::Copy { to, from, bytes, .. } => {
                self.range(from, bytes, CellAccess::Read)?;
                self.range(to, bytes, CellAccess::Write)
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

    /// Keeps what an access to recorded memory was about.
    fn note_object(&mut self, record: &Record<'_>) {
        let (Record::Read { site, addr, .. }
        | Record::Write { site, addr, .. }
        | Record::AtomicLoad { site, addr, .. }
        | Record::AtomicStore { site, addr, .. }
        | Record::Rmw { site, addr, .. }) = *record
        else {
            return;
        };
        let era = self.memory.era(addr);
        let is_kept = parts(addr, 1).any(|part| {
            let word = self.survey.word(era, part.word);
            word.is_some_and(|word| word.kept_cells(part.first, part.end).next().is_some())
        });
        if is_kept {
            self.naming.accessed(era, site, addr);
        }
    }

    fn push(&mut self, op: Op) -> Done {
        if self.sync.holders.is_waiting(self.here.thread) && !matches!(op, Op::Wait { .. }) {
            // What a library does to its own memory while the thread waits in it.
            return Ok(());
        }
        let thread = self.naming.thread(self.here.thread)?;
        // A thread that waits does nothing before it is back, not even return from a call.
        let is_back = matches!(op, Op::Woken { .. } | Op::WaitTimeout { .. });
        if has_calls(op) && !is_back {
            self.write_calls(thread)?;
        }
        self.external.event(op);
        self.has_forked |= matches!(op, Op::Fork(_));
        self.statics.accessed(op);
        self.add(Event::new(thread, op, self.here.loc));
        Ok(())
    }

    fn add(&mut self, event: Event) {
        self.counter.event(self.here.thread, event.op);
        self.events.push(event);
        self.follow(Follower::event);
    }

    /// The last event.
    fn last(&self) -> Option<EventId> {
        EventId::from_index(self.events.len().checked_sub(1)?)
    }

    /// Writes an event for a read that the program did not make.
    fn push_invented_read(&mut self, op: Op) -> Done {
        let before = self.events.len();
        self.push(op)?;
        if let Some(event) = self.last().filter(|event| event.index() >= before) {
            self.follow(|follower| follower.invented_read(event));
        }
        Ok(())
    }

    /// Writes an event for a write that the program did not make.
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
        self.calls.entry(self.here.thread).or_default()
    }

    /// The name of an address now.
    fn address_name(&self, addr: u64) -> String {
        self.naming.address(&self.memory, addr)
    }

    /// The variable that a cell is.
    fn variable(&mut self, era: Era, word: u64, cell: Cell) -> Result<VarId, LogError> {
        self.naming.variable(&self.memory, era, word, cell)
    }

    /// Writes events for the functions that the thread has left and entered since its last event.
    fn write_calls(&mut self, thread: ThreadId) -> Done {
        if self.here.site == 0 {
            return Ok(());
        }
        let mut calls = std::mem::take(self.calls());
        let changes = calls.changes(self.here.site, |site| self.naming.spot(site))?;
        *self.calls() = calls;
        for change in changes {
            let (op, frame) = match change {
                CallChange::Enter(frame) => (Op::Enter(frame.function), frame),
                CallChange::Exit(frame) => (Op::Exit(frame.function), frame),
            };
            let unknown = self.naming.spot(0)?.loc;
            self.add(Event::new(thread, op, frame.loc.unwrap_or(unknown)));
        }
        Ok(())
    }
}

/// Whether the calls matter in which this happened.
fn has_calls(op: Op) -> bool {
    !matches!(op, Op::Branch | Op::Begin | Op::End)
}
