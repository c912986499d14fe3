//! The trace as a timeline, in Chrome's trace event format, which Perfetto and `chrome://tracing` open.
//!
//! Time is the number of events before: event 5 happens at 4 µs. Each thread has a track. On it there is a slice from
//! its first event to its end, slices for functions, short slices (1 µs) for what synchronises or takes part in a race,
//! and instants for all else. Locks that a thread holds are slices on tracks below, one track for each lock that is
//! held at the same time, so that they never cross.
//!
//! Arrows lead from the start of a thread to its first event, from its last event to the join, from an unlock to the
//! next lock, from an atomic write to the reads that see it, and from one access of a race to the other. Both ends of
//! an arrow are written when the second is known: so the beginning of an arrow stands after later events in the file,
//! which viewers sort. All else is in the order of time. Nothing is kept but the last event of each thread, lock and
//! atomic variable.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use foretell_report::RacingAccess;
use foretell_report::words::words;
use foretell_trace::format::{Compressed, EventWriter};
use foretell_trace::{AccessKind, Ending, Event, EventId, Names, Op, ThreadId, TraceError};
use serde::Serialize;
use serde_json::{Value, json};

use crate::races::{self, Reports};
use crate::threads::{Change, Threads};

/// The only process.
const PROCESS: u32 = 1;

/// An end of an arrow: a track and a time.
#[derive(Clone, Copy, Debug)]
struct Spot {
    track: u32,
    time: u64,
}

/// What is known of a thread.
#[derive(Clone, Debug, Default)]
struct Track {
    /// Its number, once it has one.
    number: Option<u32>,
    /// The numbers of the tracks for locks, by slot.
    locks: Vec<u32>,
    /// How many slices are open on its own track.
    open: usize,
    /// Who starts it.
    forked: Option<Spot>,
    last: Option<Spot>,
    is_over: bool,
}

/// A line of the file, as the format wants it.
#[derive(Serialize)]
struct Record<'a> {
    ph: &'a str,
    pid: u32,
    tid: u32,
    ts: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// How far an instant is seen: in its thread, or globally.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    /// Where an arrow ends: at the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

impl<'a> Record<'a> {
    fn new(ph: &'a str, at: Spot) -> Record<'a> {
        let (name, cat) = ("", "");
        let (dur, id, s, bp, args) = (None, None, None, None, None);
        Record { ph, pid: PROCESS, tid: at.track, ts: at.time, name, cat, dur, id, s, bp, args }
    }
}

/// An access that is part of races.
#[derive(Debug)]
struct Racing {
    access: RacingAccess,
    /// The races, by their numbers.
    races: Vec<usize>,
}

/// Writes a timeline, event by event.
pub struct Timeline<W> {
    output: W,
    /// Whether nothing was written yet.
    is_empty: bool,
    events: u64,
    tracks: Vec<Track>,
    next_track: u32,
    next_arrow: u64,
    threads: Threads,
    /// The last unlock of each lock.
    unlocked: Vec<Option<Spot>>,
    /// The last atomic write of each variable, unless a plain one came after it.
    written: Vec<Option<Spot>>,
    racing: HashMap<u32, Racing>,
    /// The first access of each race, once it was there.
    raced: Vec<Option<Spot>>,
    /// How many events there must be for a report to fit.
    lengths: BTreeSet<usize>,
}

impl<W: Write> Timeline<W> {
    /// Writes to `output`, which should be buffered, and marks the races of `reports`.
    pub fn new(output: W, reports: &Reports) -> Timeline<W> {
        let mut timeline = Timeline {
            output,
            is_empty: true,
            events: 0,
            tracks: Vec::new(),
            next_track: 1,
            next_arrow: 1,
            threads: Threads::default(),
            unlocked: Vec::new(),
            written: Vec::new(),
            racing: HashMap::new(),
            raced: Vec::new(),
            lengths: reports.lengths().collect(),
        };
        timeline.enter(reports);
        timeline
    }

    /// Numbers the races, each pair once.
    fn enter(&mut self, reports: &Reports) {
        let mut known: HashMap<(u32, u32), usize> = HashMap::new();
        for pair in reports.accesses() {
            let next = known.len();
            let race = *known.entry((pair[0].event, pair[1].event)).or_insert(next);
            if race < next {
                continue;
            }
            for access in pair {
                let fresh = || Racing { access: access.clone(), races: Vec::new() };
                self.racing.entry(access.event).or_insert_with(fresh).races.push(race);
            }
        }
        self.raced = vec![None; known.len()];
    }

    /// Writes one event.
    pub fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        let time = self.events;
        let id = usize::try_from(time).ok().and_then(EventId::from_index).ok_or(TraceError::TooManyEvents)?;
        self.events += 1;
        let here = Spot { track: self.track(event.thread, names)?, time };
        self.begin_thread(event, here, names)?;
        let racing = self.racing.get(&id.number()).map(|racing| racing.races.clone());
        self.must_fit(id, event, names)?;
        let change = self.threads.step(id, event);
        match (change, event.op) {
            (Change::Entered, Op::Enter(function)) => {
                self.track_of(event.thread).open += 1;
                let args = Some(json!({"event": id.number(), "location": names.loc_text(event.loc)}));
                let name = names.labels.name(function);
                self.record(&Record { name, cat: "function", args, ..Record::new("B", here) })?;
            }
            (Change::Left(functions), _) => {
                self.track_of(event.thread).open -= functions;
                for _ in 0..functions {
                    self.record(&Record::new("E", here))?;
                }
            }
            _ => self.happen(id, event, here, racing.is_some(), names)?,
        }
        self.lock_tracks(change, event, here, names)?;
        self.arrows(event, here)?;
        for race in racing.unwrap_or_default() {
            self.race(race, here)?;
        }
        self.track_of(event.thread).last = Some(here);
        if let Op::Join(child) = event.op {
            self.end_thread(child, time)?;
        } else if event.op == Op::End {
            self.end_thread(event.thread, time + 1)?;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W, TraceError> {
        let events = usize::try_from(self.events).unwrap_or(usize::MAX);
        if !self.lengths.is_empty() && !self.lengths.contains(&events) {
            return Err(refused(format!("the report is of another trace: this one has {events} events")));
        }
        for index in 0..self.tracks.len() {
            if let Some(thread) = ThreadId::from_index(index) {
                self.end_thread(thread, self.events)?;
            }
        }
        let end: &[u8] = if self.is_empty { b"{\"traceEvents\":[]}\n" } else { b"\n]}\n" };
        self.output.write_all(end)?;
        Ok(self.output)
    }

    fn record(&mut self, record: &impl Serialize) -> Result<(), TraceError> {
        let before: &[u8] = if self.is_empty { b"{\"traceEvents\":[\n" } else { b",\n" };
        self.is_empty = false;
        self.output.write_all(before)?;
        serde_json::to_writer(&mut self.output, record).map_err(std::io::Error::from)?;
        Ok(())
    }

    fn track_of(&mut self, thread: ThreadId) -> &mut Track {
        let index = thread.index();
        if self.tracks.len() <= index {
            self.tracks.resize_with(index + 1, Track::default);
        }
        &mut self.tracks[index]
    }

    /// The number of a thread's track, which gets its name when it is first needed.
    fn track(&mut self, thread: ThreadId, names: &Names) -> Result<u32, TraceError> {
        if let Some(number) = self.track_of(thread).number {
            return Ok(number);
        }
        if self.next_track == 1 {
            self.record(&json!({"ph": "M", "pid": PROCESS, "tid": 1, "name": "process_name", "args": {"name": "trace"}}))?;
        }
        let number = self.new_track(names.threads.name(thread), thread, 0)?;
        self.track_of(thread).number = Some(number);
        Ok(number)
    }

    /// A track that stands below the thread's others.
    fn new_track(&mut self, name: &str, thread: ThreadId, below: usize) -> Result<u32, TraceError> {
        const TRACKS: usize = 100;
        let number = self.next_track;
        self.next_track += 1;
        let place = thread.index().saturating_mul(TRACKS) + below.min(TRACKS - 1);
        let about = |what: &str, key: &str, value: Value| {
            let args = json!({key: value});
            json!({"ph": "M", "pid": PROCESS, "tid": number, "name": what, "args": args})
        };
        self.record(&about("thread_name", "name", name.into()))?;
        self.record(&about("thread_sort_index", "sort_index", place.into()))?;
        Ok(number)
    }

    fn begin_thread(&mut self, event: &Event, here: Spot, names: &Names) -> Result<(), TraceError> {
        let track = self.track_of(event.thread);
        if track.last.is_some() {
            return Ok(());
        }
        track.open = 1;
        let forked = track.forked;
        let name = names.threads.name(event.thread);
        self.record(&Record { name, cat: "thread", ..Record::new("B", here) })?;
        forked.map_or(Ok(()), |fork| self.arrow("start", fork, here))
    }

    fn end_thread(&mut self, thread: ThreadId, time: u64) -> Result<(), TraceError> {
        let track = self.track_of(thread);
        let (Some(number), false) = (track.number, track.is_over) else { return Ok(()) };
        track.is_over = true;
        let open = std::mem::take(&mut track.open);
        for _ in 0..open {
            self.record(&Record::new("E", Spot { track: number, time }))?;
        }
        let held: Vec<usize> = self.threads.doing(thread).map_or(Vec::new(), |doing| {
            let slots = doing.slots().iter().enumerate();
            slots.filter(|(_, held)| held.is_some()).map(|(slot, _)| slot).collect()
        });
        for slot in held {
            let lock_track = self.track_of(thread).locks.get(slot).copied();
            if let Some(track) = lock_track {
                self.record(&Record::new("E", Spot { track, time }))?;
            }
        }
        Ok(())
    }

    /// A slice for what arrows may lead to, an instant for all else.
    fn happen(
        &mut self,
        id: EventId,
        event: &Event,
        here: Spot,
        races: bool,
        names: &Names,
    ) -> Result<(), TraceError> {
        let name = words(event.op, names);
        let access = event.op.access();
        let cat = match access {
            _ if races => "race",
            Some(access) if access.atomic => "atomic",
            Some(_) => "access",
            None => "sync",
        };
        let value = event.op.value_written().or(event.op.value_read());
        let mut args = json!({"event": id.number(), "location": names.loc_text(event.loc)});
        if let Some(value) = value {
            args["value"] = names.value_text(value).into();
        }
        if access.is_some() {
            let held = self.threads.doing(event.thread).map(crate::threads::Doing::locks).unwrap_or_default();
            let locks: Vec<&str> = held.iter().map(|section| names.locks.name(section.lock)).collect();
            args["locks"] = locks.into();
        }
        let is_plain = access.is_some_and(|access| !access.atomic);
        let is_quiet = matches!(event.op, Op::Branch | Op::Begin | Op::End | Op::Dummy(_) | Op::Exit(_));
        let shape = if (is_plain || is_quiet) && !races {
            Record { s: Some("t"), ..Record::new("i", here) }
        } else {
            Record { dur: Some(1), ..Record::new("X", here) }
        };
        self.record(&Record { name: &name, cat, args: Some(args), ..shape })
    }

    fn lock_tracks(
        &mut self,
        change: Change,
        event: &Event,
        here: Spot,
        names: &Names,
    ) -> Result<(), TraceError> {
        match (change, event.op.section_begin()) {
            (Change::Taken(slot), Some((lock, _))) => {
                let track = self.lock_track(event.thread, slot, names)?;
                let name = names.locks.name(lock);
                self.record(&Record { name, cat: "lock", ..Record::new("B", Spot { track, ..here }) })
            }
            (Change::Given(slot), _) => {
                let track = self.lock_track(event.thread, slot, names)?;
                self.record(&Record::new("E", Spot { track, ..here }))
            }
            _ => Ok(()),
        }
    }

    fn lock_track(&mut self, thread: ThreadId, slot: usize, names: &Names) -> Result<u32, TraceError> {
        while self.track_of(thread).locks.len() <= slot {
            let below = self.track_of(thread).locks.len() + 1;
            let name = format!("{} · locks", names.threads.name(thread));
            let track = self.new_track(&name, thread, below)?;
            self.track_of(thread).locks.push(track);
        }
        Ok(self.track_of(thread).locks[slot])
    }

    /// The arrows that end here; and what later ones will need.
    fn arrows(&mut self, event: &Event, here: Spot) -> Result<(), TraceError> {
        if let Some((lock, _)) = event.op.section_begin()
            && let Some(from) = *at(&mut self.unlocked, lock.index())
        {
            self.arrow("unlock", from, here)?;
        }
        if let Some((lock, _)) = event.op.section_end() {
            *at(&mut self.unlocked, lock.index()) = Some(here);
        }
        match event.op {
            Op::Fork(child) => self.track_of(child).forked = Some(here),
            Op::Join(child) => {
                if let Some(last) = self.track_of(child).last {
                    self.arrow("join", last, here)?;
                }
            }
            _ => {}
        }
        let Some(access) = event.op.access() else { return Ok(()) };
        let from = *at(&mut self.written, access.var.index());
        if let Some(from) = from.filter(|_| access.atomic && access.kind.reads() && !event.unexplained) {
            self.arrow("read from", from, here)?;
        }
        if access.kind != AccessKind::Read {
            *at(&mut self.written, access.var.index()) = Some(here).filter(|_| access.atomic);
        }
        Ok(())
    }

    /// The event at `here` is part of this race.
    fn race(&mut self, race: usize, here: Spot) -> Result<(), TraceError> {
        let name = format!("race {}", race + 1);
        self.record(&Record { name: &name, cat: "race", s: Some("g"), ..Record::new("i", here) })?;
        match self.raced.get(race).copied().flatten() {
            Some(first) => self.arrow("race", first, here),
            None => {
                *at(&mut self.raced, race) = Some(here);
                Ok(())
            }
        }
    }

    fn arrow(&mut self, name: &str, from: Spot, to: Spot) -> Result<(), TraceError> {
        let id = Some(self.next_arrow);
        self.next_arrow += 1;
        self.record(&Record { name, cat: "arrow", id, ..Record::new("s", from) })?;
        self.record(&Record { name, cat: "arrow", id, bp: Some("e"), ..Record::new("f", to) })
    }

    /// A report of another trace would mark anything.
    fn must_fit(&self, id: EventId, event: &Event, names: &Names) -> Result<(), TraceError> {
        let Some(racing) = self.racing.get(&id.number()) else { return Ok(()) };
        let (thread, location) = (names.threads.name(event.thread), names.loc_text(event.loc));
        if races::is(&racing.access, thread, &location) {
            return Ok(());
        }
        Err(refused(format!("the report is of another trace: {}", races::words(&racing.access))))
    }
}

fn refused(why: String) -> TraceError {
    TraceError::Io(std::io::Error::new(std::io::ErrorKind::InvalidInput, why))
}

/// The entry of a table that grows where it is asked.
fn at(table: &mut Vec<Option<Spot>>, index: usize) -> &mut Option<Spot> {
    if table.len() <= index {
        table.resize(index + 1, None);
    }
    &mut table[index]
}

impl EventWriter for Timeline<Compressed> {
    fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        self.write(event, names)
    }

    fn finish(self: Box<Self>, _: Ending) -> Result<(), TraceError> {
        Ok((*self).finish()?.finish()?)
    }
}
