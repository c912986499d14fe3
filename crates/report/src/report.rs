//! The data of a report.

use std::collections::BTreeMap;

use foretell_trace::format::text::op_text;
use foretell_trace::{Ending, Event, EventId, Names, Op, Trace};
use foretell_witness::{Finding, Model, NewValues, Proof as Proven};
use serde::{Deserialize, Serialize};

use crate::baseline::Known;
use crate::confirmation::Confirmation;
use crate::context::{Frame, HeldLock, Origin};
use crate::counts::Counts;
use crate::coverage::Coverage;
use crate::excerpt::Excerpt;
use crate::hunt::{Hunt, Hunted};
use crate::observed::Observed;
use crate::picture::Picture;
use crate::predicted_deadlock::PredictedDeadlock;
use crate::predicted_violation::PredictedViolation;
use crate::reads::NeededReads;
use crate::story::Story;
use crate::suppressions::Suppressed;

/// The version of the form that a report has as JSON. It grows when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// What one technique found in one trace. Reports of other versions can be read as long as they name the trace and
/// the races: what they do not say is not known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The name of the tool.
    pub tool: String,
    /// Which version of it; empty in reports of versions that did not say.
    #[serde(default)]
    pub version: String,
    /// The version of the report's form, [`SCHEMA`]; 0 in reports of versions that did not say.
    #[serde(default)]
    pub schema: u32,
    /// The technique, by its name on the command line.
    pub technique: String,
    /// What was looked at.
    pub trace: TraceInfo,
    /// How many events a schedule may rearrange in one piece, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Whether the technique has said all that it can say about the trace; otherwise something below tells what is
    /// missing.
    #[serde(default)]
    pub complete: bool,
    /// The user stopped the analysis: what is not listed is not known.
    #[serde(default)]
    pub interrupted: bool,
    /// What else keeps the answer from being complete, in words.
    #[serde(default)]
    pub notes: Vec<String>,
    /// How the run ended that the trace was recorded from, if not well; then there may be more to find in other runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// How many of the races the program itself was driven into, where that could be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driven: Option<usize>,
    /// The command that packs all that is needed to look into a race which the program did not follow, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The test that was run, if the trace was recorded from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<TestRun>,
    /// The hunt that the races were found in, if the program was run many times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunt: Option<Hunt>,
    /// Suppressed pairs; absent without rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// Pairs that earlier reports contain; absent if none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Known>,
    /// Proven races.
    pub races: Vec<Race>,
    /// Proven deadlocks; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<PredictedDeadlock>,
    /// Proven violations; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<PredictedViolation>,
    /// Pairs that are not decided, or were reported but not proven.
    #[serde(default)]
    pub undecided: Vec<Candidate>,
    /// What source files show around the places of pictures, by location.
    #[serde(skip)]
    pub excerpts: BTreeMap<String, Excerpt>,
    /// Figures.
    #[serde(default)]
    pub stats: Stats,
}

/// A test that was run and recorded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestRun {
    /// The program that the test is in, and the test: `locks::writers_keep_apart`.
    pub name: String,
    /// How it ended.
    pub ending: TestEnding,
    /// How long it ran, being recorded.
    pub seconds: f64,
    /// The end of what it printed, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestEnding {
    /// Well.
    Passed,
    /// Not well.
    Failed,
    /// It took too long.
    Stopped,
}

/// The trace that was looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceInfo {
    /// Where it came from.
    pub file: String,
    /// How many events it has.
    pub events: usize,
    /// How many threads it names.
    pub threads: usize,
    /// The recording ended in the middle: nothing is known of what came after.
    pub cut_short: bool,
    /// Why it did, where that is known; or why it is complete though the process did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
    /// How many fences there are: reads that saw a value that no recorded write explains, also calls of
    /// uninstrumented code.
    pub unexplained_reads: u64,
    /// How many accesses to memory that other processes may see, or that has a second address, were not examined:
    /// each of them is a fence.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_accesses: u64,
    /// The part of it that was looked at, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceInfo>,
    /// How much of it could be reordered at all, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What it is made of, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// How many pairs pass the quick check, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_check: Option<u64>,
    /// There are so many that not all were counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick_check_is_partial: bool,
}

/// A part of a trace: what the events of a property depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SliceInfo {
    /// The property, as it was asked for.
    pub property: String,
    /// Whether every run of the slice is one of the program. Otherwise what is found in it proves nothing.
    pub sound: bool,
    /// How many events it has.
    pub events: usize,
    /// How many events the whole trace has. Numbers of events are those of the whole trace.
    pub of: usize,
}

/// A race that the referee has accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Race {
    /// The access that stands first in the trace.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// Which kind of proof there is.
    #[serde(default)]
    pub proof: Proof,
    /// How far the witness may deviate from the recorded run; absent where there is none, and in reports of earlier
    /// versions.
    #[serde(default, with = "crate::model_name", skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The events of the prefix in their new order; the racing two are the last. Absent where the proof is that nothing
    /// orders the two, and where the witnesses of all races together would be too long to print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<u32>>,
    /// How many events the witness has, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness_length: Option<usize>,
    /// The end of the witness, where its beginning is the recorded run and the whole would be too long to print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness_tail: Option<WitnessTail>,
    /// The witness as a story, where it was made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// What kept the two apart in the recorded run, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// Which reads on the way to it matter, where some see something else and the trace tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<NeededReads>,
    /// On which way it lies, if not on the one that the recorded run went. Its events are then those of that way, see
    /// [`NOT_EXECUTED`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What events of the witness read and write, as far as that is something else than in the recorded run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<NewValue>,
    /// The schedule that leads the program itself to it, where that is known: a text, see docs/schedule.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Whether the program itself was driven into it, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// Its diagram, if one was made.
    #[serde(skip)]
    pub picture: Option<Box<Picture>>,
    /// In how many of the recorded processes it was found; only in the first of them, and only if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// In which run of a hunt it was found first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunted: Option<Hunted>,
    /// It was found in an earlier process already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// What it is known by from run to run; see [`crate::fingerprint`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// The end of a witness that begins as the recorded run did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WitnessTail {
    /// So many events of the trace run first, as they were recorded.
    pub after: u32,
    /// Then these run; the racing two are the last.
    pub events: Vec<u32>,
}

/// What [`Race::path`] says of a race on a way that the recorded run did not go.
pub const NOT_EXECUTED: &str = "not executed in the recorded run";

/// What an event reads or writes on the way to a race, other than in the recorded run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NewValue {
    /// The number of the event.
    pub event: u32,
    /// Who does it.
    pub thread: String,
    /// What is accessed.
    pub target: String,
    /// Where in the program.
    pub location: String,
    /// What it reads, if that is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// What it writes, if that is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl NewValue {
    /// What the referee says of an event of the trace.
    pub fn new(new: NewValues, trace: &Trace) -> NewValue {
        let (event, names) = (trace.event(new.event), trace.names());
        let target = event.op.access().map_or("", |access| names.vars.name(access.var));
        NewValue {
            event: new.event.number(),
            thread: names.threads.name(event.thread).to_string(),
            target: target.to_string(),
            location: names.loc_text(event.loc).into_owned(),
            read: new.read,
            written: new.written,
        }
    }

    /// The whole in words.
    pub(crate) fn words(&self) -> String {
        let NewValue { thread, target, location, .. } = self;
        let read = self.read.as_ref().map(|value| format!("reads {target} = {value}"));
        let written = self.written.as_ref().map(|value| format!("writes {target} = {value}"));
        let deeds: Vec<String> = [read, written].into_iter().flatten().collect();
        format!("{thread} {} at {location}", deeds.join(" and "))
    }
}

/// Why a race is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// A schedule brings the two accesses next to each other.
    #[default]
    Adjacent,
    /// In the observed run itself, nothing that the language guarantees orders them.
    Unordered,
}

/// A pair that a technique reported but that is not proven.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Candidate {
    /// The access that stands first in the trace.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// Why it is not proven.
    pub reason: String,
    /// How many more pairs of the same two locations are not decided either.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// What it is known by from run to run; see [`crate::fingerprint`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// One of two accesses.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RacingAccess {
    /// Its number in the trace, counted from 1.
    pub event: u32,
    /// Who made it.
    pub thread: String,
    /// What the program calls the thread, where it gives it a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_name: Option<String>,
    /// What it does: `r`, `w`, or another operation of the text format.
    pub op: String,
    /// What it touches.
    pub target: String,
    /// The value that it saw or wrote, where the trace shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where in the program.
    pub location: String,
    /// The function that makes it, where the trace shows functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The functions that are being executed, the innermost first. Empty if the trace shows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// The locks that the thread holds; absent if not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Vec<HeldLock>>,
    /// How the thread was started, if the trace shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_started: Option<Origin>,
    /// How the memory was allocated, if the trace shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_allocated: Option<Origin>,
    /// The line of the program, where it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The lines around it, where they could be read, and what is to be known about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
}

/// Figures of one run of one technique.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// How many pairs are proven or not decided.
    pub candidates: usize,
    /// Time on the clock, reading included.
    pub seconds: f64,
    /// The most memory that the process had in use meanwhile, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// How many accesses were dropped from bounded histories although they might still have raced.
    pub forgotten_accesses: u64,
    /// How many pairs were proven to be no race. Only techniques that decide pairs one by one know this.
    pub refuted: u64,
    /// In how many circles of threads that might wait for each other no schedule gets stuck.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deadlocks_refuted: u64,
    /// How many such circles are not decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deadlocks_undecided: u64,
    /// How many uses of freed memory no schedule leads to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub violations_refuted: u64,
    /// How many such uses are not decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub violations_undecided: u64,
    /// How many pairs have no race within one window, though they may have one beyond.
    pub not_in_window: u64,
    /// How many pairs were not examined or exceed the report, as far as they were counted: there were too many,
    /// the time was over, or the analysis was interrupted.
    pub not_examined: u64,
    /// How many pairs of `auto` have no race with the values of the recorded run, where there was no time to find out
    /// about others.
    #[serde(default)]
    pub not_recomputed: u64,
    /// For what reasons, and how often each, something that depends on reads was not computed, so that its observed
    /// value is kept. Empty if no technique computes values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_computed: BTreeMap<String, u64>,
    /// How many more pairs are undecided than the report lists.
    pub not_listed: u64,
    /// How many proven races have a witness that is too long to print along with all others.
    pub witnesses_not_printed: usize,
}

impl Report {
    /// A report that says nothing yet.
    pub fn new(technique: &str) -> Report {
        Report {
            tool: "foretell".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            schema: SCHEMA,
            technique: technique.to_string(),
            trace: TraceInfo::default(),
            window: None,
            complete: false,
            interrupted: false,
            notes: Vec::new(),
            ending: None,
            driven: None,
            evidence: None,
            test: None,
            hunt: None,
            suppressed: None,
            known: None,
            races: Vec::new(),
            deadlocks: Vec::new(),
            violations: Vec::new(),
            undecided: Vec::new(),
            excerpts: BTreeMap::new(),
            stats: Stats::default(),
        }
    }

    /// The file of places that name none: a program that is one file knows lines and columns only.
    pub fn program(&self) -> Option<&str> {
        Some(self.trace.file.as_str()).filter(|file| file.ends_with(".cimp"))
    }

    /// The races in the order in which they are reported and numbered: those of an earlier process are not reported
    /// again.
    pub fn listed_races(&self) -> impl Iterator<Item = &Race> {
        self.races.iter().filter(|race| !race.repeated)
    }

    /// The races that the program was to be driven into and was not, for whatever reason.
    pub fn unconfirmed_races(&self) -> impl Iterator<Item = &Race> {
        self.listed_races().filter(|race| race.confirmation.as_ref().is_some_and(|it| !it.confirmed))
    }

    /// Whether almost nothing of the trace could be reordered.
    pub fn is_blind(&self) -> bool {
        self.trace.coverage.as_ref().is_some_and(|coverage| coverage.blind)
    }

    /// Whether something remains that might be a race.
    pub fn is_open(&self) -> bool {
        let stats = &self.stats;
        self.interrupted
            || self.is_blind()
            || !self.notes.is_empty()
            || !self.undecided.is_empty()
            || stats.forgotten_accesses + stats.not_in_window + stats.not_examined > 0
    }
}

/// A thread, with what the program calls it if it gives it a name.
pub(crate) fn with_title(thread: &str, title: Option<&str>) -> String {
    title.map_or_else(|| thread.to_string(), |title| format!("{thread} ({title})"))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser passes a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TraceInfo {
    /// What is to be said of a trace in memory.
    pub fn of(trace: &Trace, file: &str) -> TraceInfo {
        let unexplained = trace.events().iter().filter(|event| event.unexplained).count();
        TraceInfo {
            file: file.to_string(),
            events: trace.events().len(),
            threads: trace.thread_count(),
            cut_short: trace.ending() == Ending::CutShort,
            unexplained_reads: unexplained as u64,
            ..TraceInfo::default()
        }
    }
}

impl Race {
    /// The race that the referee's finding is about; `event` looks up events by id.
    pub fn new(finding: &Finding, names: &Names, event: impl Fn(EventId) -> Event) -> Race {
        let accesses = [finding.first(), finding.second()].map(|id| RacingAccess::new(id, event(id), names));
        Race::of_accesses(finding.proof(), accesses)
    }

    /// The race of these accesses that the referee has accepted for this reason. A schedule without steps was not kept.
    pub fn of_accesses(proof: &Proven, [first, second]: [RacingAccess; 2]) -> Race {
        let (proof, model, witness) = match proof {
            Proven::Adjacent { model, schedule } => {
                let witness: Vec<u32> = schedule.iter().map(|id| id.number()).collect();
                (Proof::Adjacent, Some(*model), Some(witness).filter(|all| !all.is_empty()))
            }
            Proven::Unordered => (Proof::Unordered, None, None),
        };
        Race {
            first,
            second,
            proof,
            model,
            witness_length: witness.as_ref().map(Vec::len),
            witness_tail: None,
            witness,
            story: None,
            observed: None,
            reads: None,
            path: None,
            values: Vec::new(),
            schedule: None,
            confirmation: None,
            picture: None,
            processes: None,
            hunted: None,
            repeated: false,
            fingerprint: None,
        }
    }

    /// Whether there is a witness of which nothing is printed.
    pub fn is_witness_left_out(&self) -> bool {
        self.witness.is_none() && self.witness_tail.is_none() && self.witness_length.is_some()
    }
}

impl RacingAccess {
    /// The thread, with what the program calls it: `T1 (net-worker)`.
    pub fn thread_words(&self) -> String {
        with_title(&self.thread, self.thread_name.as_deref())
    }

    /// The access that `event` is.
    pub fn new(id: EventId, event: Event, names: &Names) -> RacingAccess {
        let text = op_text(event.op, names);
        let op = text.split_once('(').map_or(text.as_str(), |(op, _)| op);
        let value = match event.op {
            Op::Rmw { .. } => None,
            op => op.value_read().or(op.value_written()),
        };
        RacingAccess {
            event: id.number(),
            thread: names.threads.name(event.thread).to_string(),
            thread_name: names.title(event.thread).map(str::to_string),
            op: op.to_string(),
            target: event
                .op
                .access()
                .map(|access| names.vars.name(access.var).to_string())
                .unwrap_or_default(),
            value: value.map(|value| names.value_text(value).into_owned()),
            location: names.loc_text(event.loc).into_owned(),
            ..RacingAccess::default()
        }
    }
}
