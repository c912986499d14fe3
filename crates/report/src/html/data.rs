//! What the page shows, as compact JSON. `html/script/data.js` reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::Serialize;

use super::texts::{StackId, Text, Texts};
use crate::cause::{Cause, causes};
use crate::confirmation_text::words;
use crate::context::{Frame, HeldLock, HeldMode, Origin, SourceLocation, is_of_library, own_frame};
use crate::coverage_text;
use crate::deadlock::{Deadlock, WaitingThread};
use crate::excerpt::{Doubt, Excerpt};
use crate::hunt::{Hunt, Hunted};
use crate::hunt_text;
use crate::moved::Moved;
use crate::notes;
use crate::observed::{Deed, Observed};
use crate::picture::{Kind, LockChange, Picture};
use crate::predicted_deadlock::PredictedDeadlock;
use crate::predicted_violation::{PredictedViolation, ViolationKind};
use crate::race_text::deed;
use crate::reads::{NeededRead, NeededReads};
use crate::reads_text;
use crate::report::{Candidate, Proof, Race, RacingAccess, Report};
use crate::sink::Sink;
use crate::source_text;
use crate::story::{Row, Story, StoryStep};
use crate::suppressions::SuppressedPair;
use crate::text::{self, count};
use crate::visible::visible;

/// Everything.
#[derive(Serialize)]
pub(super) struct Data {
    tool: String,
    summary: String,
    reports: Vec<ReportData>,
    files: Vec<FileData>,
    /// What is said of a file that has no such line.
    no_such_line: &'static str,
    stacks: Vec<Vec<[Text; 2]>>,
    texts: Vec<String>,
}

#[derive(Serialize)]
struct ReportData {
    technique: Text,
    file: Text,
    summary: String,
    facts: Vec<Text>,
    notes: Vec<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunt: Option<HuntData>,
    /// Deadlocks that a schedule leads to.
    deadlocks: Vec<DeadlockData>,
    /// What threads must not come to, and a schedule leads to.
    violations: Vec<DeadlockData>,
    /// How many events the run has.
    events: usize,
    causes: Vec<CauseData>,
    races: Vec<RaceData>,
    open: Vec<OpenData>,
    suppressed: Vec<OpenData>,
}

/// What several races come from: a sentence, what would mend it, and the numbers of the races.
#[derive(Serialize)]
struct CauseData {
    sentence: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Text>,
    races: Vec<usize>,
}

/// Many runs of one program.
#[derive(Serialize)]
struct HuntData {
    words: String,
    /// How many different races there were after each run, and whether it has ended in a deadlock.
    runs: Vec<(usize, bool)>,
    /// What each run that has not ended well has to say.
    endings: Vec<Text>,
    deadlocks: Vec<DeadlockData>,
}

/// A way to get stuck: in words, and who waits where, holding what. Or a violation, and who does what.
#[derive(Serialize)]
struct DeadlockData {
    /// What it is.
    kind: &'static str,
    title: String,
    waiting: Vec<WaitingData>,
}

#[derive(Serialize)]
struct WaitingData {
    thread: Text,
    waits: Text,
    place: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<StackId>,
    locks: Vec<LockData>,
}

#[derive(Serialize)]
struct RaceData {
    first: AccessData,
    second: AccessData,
    proof: Proof,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<usize>,
    /// Whether the program itself was driven into it, and what that looked like.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation: Option<(bool, Text)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunted: Option<String>,
    /// On which way it lies, if not on the recorded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Which values lead there that the recorded run did not have, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<Vec<LinkData>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<ReadsData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<StoryData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<PictureData>,
}

/// Which reads on the way matter: each by its number, and in words.
#[derive(Serialize)]
struct ReadsData {
    introduction: &'static str,
    lines: Vec<(u32, Text)>,
    more: usize,
}

/// A pair that is not a race, or that is suppressed.
#[derive(Serialize)]
struct OpenData {
    first: AccessData,
    second: AccessData,
    /// Why it is not proven, or the rule that suppresses it.
    reason: Text,
    more: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

#[derive(Serialize)]
struct AccessData {
    event: u32,
    thread: Text,
    target: Text,
    deed: Text,
    place: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<StackId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locks: Option<Vec<LockData>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<OriginData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated: Option<OriginData>,
}

/// Lock, whether it is shared, place, stack.
type LockData = (Text, bool, Text, Option<StackId>);
/// Event, thread, place, stack.
type OriginData = (u32, Text, Text, Option<StackId>);
/// Event, thread, deed.
type DeedData = (u32, Text, Text);
/// The first, the second, and whether nothing in the program forces that order.
type LinkData = (DeedData, DeedData, bool);

#[derive(Serialize)]
struct StoryData {
    threads: Vec<Text>,
    rows: Vec<RowData>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum RowData {
    /// Thread, event, deed, place, whether it races.
    Step(usize, u32, Text, Text, bool),
    /// Thread, event, deed, place.
    Waits(usize, u32, Text, Text),
    /// Thread if it is one, how many.
    Skipped(Option<usize>, usize),
}

/// Columns. Numbers that mostly grow by one are stored as differences.
#[derive(Serialize)]
struct PictureData {
    threads: Vec<Text>,
    events: Vec<u32>,
    lanes: Vec<usize>,
    deeds: Vec<Text>,
    places: Vec<Text>,
    marks: Vec<u8>,
    /// Position of the event, lock, whether it is held from there on.
    sections: Vec<(usize, Text, bool)>,
    order: Vec<i64>,
    /// Position in the order, and 1 if later, -1 if earlier.
    moved: Vec<(usize, i8)>,
    /// Position in the order, and what is done there instead of what was recorded.
    instead: Vec<(usize, Text)>,
    /// Position in the order, and how many steps before it are left out.
    gaps: Vec<(usize, usize)>,
    /// Position in the order, and that of the event which is waited with.
    waits: Vec<(usize, usize)>,
    whole: bool,
}

/// The bits of [`PictureData::marks`]: the kind of the event, and
const RACES: u8 = 4;
/// that it has to be seen.
const KEY: u8 = 8;

#[derive(Serialize)]
struct FileData {
    name: Text,
    library: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'static str>,
    /// The first line of each piece, and its lines.
    pieces: Vec<(u32, Vec<Text>)>,
    /// Line and column of each place, and from which letter to which the thing there goes.
    tokens: Vec<(u32, u32, usize, usize)>,
}

impl Data {
    pub(super) fn new(reports: &[Report], sink: &Sink<'_>) -> io::Result<Data> {
        let mut texts = Texts::default();
        let files = files(reports, &mut texts, sink)?;
        let rendered = reports.iter().map(|report| report_data(report, &mut texts, sink));
        let rendered = rendered.collect::<io::Result<_>>()?;
        let (texts, stacks) = texts.finish();
        Ok(Data {
            tool: reports.first().map(|report| report.tool.clone()).unwrap_or_default(),
            summary: text::summary(reports),
            reports: rendered,
            files,
            no_such_line: Doubt::Shorter.words(),
            stacks,
            texts,
        })
    }
}

/// Serialises each element, unless the rendering is stopped.
fn each<T, D>(
    all: impl Iterator<Item = T>,
    sink: &Sink<'_>,
    mut data: impl FnMut(T) -> D,
) -> io::Result<Vec<D>> {
    all.map(|one| sink.look().map(|()| data(one))).collect()
}

fn report_data(report: &Report, texts: &mut Texts, sink: &Sink<'_>) -> io::Result<ReportData> {
    texts.enter(report.program());
    let notes = [notes::of_trace(&report.trace), notes::of_search(report), notes::of_rest(report)].concat();
    let asked = report.evidence.as_deref().map(notes::ask_for_evidence);
    let notes = [notes, notes::of_coverage(report), asked.into_iter().collect()].concat();
    let notes = report.ending.iter().chain(&notes).map(|note| texts.text(note)).collect();
    let rendered = report.races.iter().filter(|race| !race.repeated);
    let suppressed = report.suppressed.iter().flat_map(|suppressed| &suppressed.pairs);
    Ok(ReportData {
        technique: texts.text(&report.technique),
        file: texts.text(&report.trace.file),
        summary: text::summary(std::slice::from_ref(report)),
        facts: facts(report).iter().map(|fact| texts.text(fact)).collect(),
        notes,
        hunt: report.hunt.as_ref().map(|hunt| hunt_data(hunt, texts)),
        deadlocks: report.deadlocks.iter().map(|deadlock| predicted_data(deadlock, texts)).collect(),
        violations: report.violations.iter().map(|violation| violation_data(violation, texts)).collect(),
        events: report.trace.events,
        races: each(rendered, sink, |race| race_data(race, texts))?,
        open: each(report.undecided.iter(), sink, |open| open_data(open, texts))?,
        suppressed: each(suppressed, sink, |pair| suppressed_data(pair, texts))?,
        causes: causes(report).iter().map(|cause| cause_data(cause, texts)).collect(),
    })
}

fn cause_data(cause: &Cause, texts: &mut Texts) -> CauseData {
    let fix = cause.fix.as_ref().map(|fix| texts.text(fix));
    CauseData { sentence: texts.text(&cause.sentence), fix, races: cause.races.clone() }
}

/// What else is to be said of a report.
fn facts(report: &Report) -> Vec<String> {
    let (trace, stats) = (&report.trace, &report.stats);
    let mut facts =
        vec![format!("{}, {}", count(trace.events, "recorded event"), count(trace.threads, "thread"))];
    if let Some(slice) = &trace.slice {
        facts
            .push(format!("slice: {}; {} of {} events matter to it", slice.property, slice.events, slice.of));
    }
    facts.extend(coverage_text::line(trace).map(|line| format!("coverage: {line}")));
    if stats.refuted > 0 {
        facts.push(format!("{} refuted", count(stats.refuted, "pair")));
    }
    if let Some(driven @ 1..) = report.driven {
        facts.push(format!("the program itself was driven into {}", count(driven, "race")));
    }
    let repeated = report.races.iter().filter(|race| race.repeated).count();
    if repeated > 0 {
        facts.push(format!("{} already reported for an earlier process", count(repeated, "race")));
    }
    if let Some(suppressed) = report.suppressed.as_ref().filter(|suppressed| suppressed.count > 0) {
        facts.push(format!("{} suppressed by {}", count(suppressed.count, "more pair"), suppressed.file));
    }
    if let Some(known) = report.known.as_ref().filter(|known| known.count > 0) {
        facts.push(format!("{} from {}", known.words(), known.files.join(", ")));
    }
    facts.push(format!("{:.2} s", stats.seconds));
    facts
}

fn race_data(race: &Race, texts: &mut Texts) -> RaceData {
    RaceData {
        first: access_data(&race.first, texts),
        second: access_data(&race.second, texts),
        proof: race.proof,
        length: race.witness_length,
        processes: race.processes,
        hunted: race.hunted.as_ref().map(Hunted::words),
        path: race.path.clone(),
        values: race.values.iter().map(|new| texts.text(&new.words())).collect(),
        confirmation: race.confirmation.as_ref().map(|it| (it.confirmed, texts.text(&words(it).plain()))),
        fingerprint: race.fingerprint.clone(),
        observed: race.observed.as_ref().map(|observed| observed_data(observed, texts)),
        reads: race.reads.as_ref().map(|reads| reads_data(reads, texts)),
        story: race.story.as_ref().map(|story| story_data(story, texts)),
        picture: race.picture.as_ref().map(|picture| picture_data(picture, texts)),
    }
}

fn open_data(open: &Candidate, texts: &mut Texts) -> OpenData {
    OpenData {
        first: access_data(&open.first, texts),
        second: access_data(&open.second, texts),
        reason: texts.text(&open.reason),
        more: open.more,
        fingerprint: open.fingerprint.clone(),
    }
}

fn suppressed_data(pair: &SuppressedPair, texts: &mut Texts) -> OpenData {
    OpenData {
        first: access_data(&pair.first, texts),
        second: access_data(&pair.second, texts),
        reason: texts.text(&pair.rule),
        more: 0,
        fingerprint: pair.fingerprint.clone(),
    }
}

fn access_data(access: &RacingAccess, texts: &mut Texts) -> AccessData {
    let locks = access.locks.as_ref().map(|locks| locks_data(locks, texts));
    AccessData {
        event: access.event,
        thread: texts.text(&access.thread_words()),
        target: texts.text(&access.target),
        deed: texts.text(&deed(access)),
        place: texts.place(&access.location),
        function: access.function.as_ref().map(|function| texts.text(function)),
        stack: texts.stack(&access.stack),
        locks,
        started: access.thread_started.as_ref().map(|origin| origin_data(origin, texts)),
        allocated: access.memory_allocated.as_ref().map(|origin| origin_data(origin, texts)),
    }
}

fn locks_data(locks: &[HeldLock], texts: &mut Texts) -> Vec<LockData> {
    let lock = |held: &HeldLock| {
        let is_shared = held.mode == HeldMode::Shared;
        let place = texts.place(own_place(&held.location, &held.stack));
        (texts.text(&held.lock), is_shared, place, texts.stack(&held.stack))
    };
    locks.iter().map(lock).collect()
}

fn hunt_data(hunt: &Hunt, texts: &mut Texts) -> HuntData {
    HuntData {
        words: hunt_text::words(hunt),
        runs: hunt.runs.iter().map(|run| (run.total, run.deadlock)).collect(),
        endings: hunt_text::endings(hunt).iter().map(|ending| texts.text(ending)).collect(),
        deadlocks: hunt.deadlocks.iter().map(|deadlock| deadlock_data(deadlock, texts)).collect(),
    }
}

fn deadlock_data(deadlock: &Deadlock, texts: &mut Texts) -> DeadlockData {
    DeadlockData { kind: DEADLOCK, title: deadlock.title(), waiting: waiting_data(&deadlock.waiting, texts) }
}

fn predicted_data(deadlock: &PredictedDeadlock, texts: &mut Texts) -> DeadlockData {
    let waiting = waiting_data(&deadlock.waiting, texts);
    let title = format!("{} (proven by a schedule)", deadlock.title());
    DeadlockData { kind: DEADLOCK, title, waiting }
}

/// What a deadlock is called.
const DEADLOCK: &str = "Deadlock";

fn violation_data(violation: &PredictedViolation, texts: &mut Texts) -> DeadlockData {
    let one = |access: &RacingAccess| WaitingData {
        thread: texts.text(&access.thread_words()),
        waits: texts.text(&deed(access)),
        place: texts.place(&access.location),
        stack: texts.stack(&access.stack),
        locks: locks_data(access.locks.as_deref().unwrap_or_default(), texts),
    };
    let kind = match violation.kind {
        ViolationKind::UseAfterFree => "Use after free",
    };
    let title = format!("{} (proven by a schedule)", violation.title());
    DeadlockData { kind, title, waiting: [&violation.first, &violation.second].map(one).into() }
}

fn waiting_data(waiting: &[WaitingThread], texts: &mut Texts) -> Vec<WaitingData> {
    let one = |waiting: &WaitingThread| WaitingData {
        thread: texts.text(&waiting.thread),
        waits: texts.text(&waiting.words()),
        place: texts.place(&waiting.location),
        stack: texts.stack(&waiting.stack),
        locks: locks_data(&waiting.locks, texts),
    };
    waiting.iter().map(one).collect()
}

fn origin_data(origin: &Origin, texts: &mut Texts) -> OriginData {
    let place = texts.place(own_place(&origin.location, &origin.stack));
    (origin.event, texts.text(&origin.thread), place, texts.stack(&origin.stack))
}

/// Where in the program itself something happened, as the terminal shows it.
fn own_place<'a>(location: &'a str, stack: &'a [Frame]) -> &'a str {
    own_frame(stack).map_or(location, |frame| &frame.location)
}

/// The links of a chain; none if the two are unordered.
fn observed_data(observed: &Observed, texts: &mut Texts) -> Vec<LinkData> {
    let mut deed = |deed: &Deed| (deed.event, texts.text(&deed.thread), texts.text(&deed.what));
    match observed {
        Observed::Ordered(links) => {
            links.iter().map(|link| (deed(&link.from), deed(&link.to), link.is_accident)).collect()
        }
        Observed::Unordered => Vec::new(),
    }
}

fn reads_data(needed: &NeededReads, texts: &mut Texts) -> ReadsData {
    let mut line = |read: &NeededRead| (read.read.event, texts.text(&reads_text::read(read).plain()));
    ReadsData {
        introduction: reads_text::INTRODUCTION,
        lines: needed.reads.iter().map(&mut line).collect(),
        more: needed.more,
    }
}

fn story_data(story: &Story, texts: &mut Texts) -> StoryData {
    let step = |step: &StoryStep, texts: &mut Texts| (texts.text(&step.what), texts.place(&step.location));
    let mut row = |row: &Row| match row {
        Row::Step(taken) => {
            let (what, place) = step(taken, texts);
            RowData::Step(taken.thread, taken.event, what, place, taken.races)
        }
        Row::Waits(next) => {
            let (what, place) = step(next, texts);
            RowData::Waits(next.thread, next.event, what, place)
        }
        Row::Skipped { thread, steps } => RowData::Skipped(Some(*thread), *steps),
        Row::SkippedByAll { steps } => RowData::Skipped(None, *steps),
    };
    let rows = story.rows.iter().map(&mut row).collect();
    StoryData { rows, threads: story.thread_words().map(|thread| texts.text(&thread)).collect() }
}

fn picture_data(picture: &Picture, texts: &mut Texts) -> PictureData {
    let Picture { threads, events, predicted, waits, is_whole } = picture;
    let section = |(at, shown): (usize, &crate::picture::Shown)| match &shown.section {
        Some(LockChange::Begins(lock)) => Some((at, lock.clone(), true)),
        Some(LockChange::Ends(lock)) => Some((at, lock.clone(), false)),
        None => None,
    };
    let sections: Vec<_> = events.iter().enumerate().filter_map(section).collect();
    let steps = || predicted.iter().enumerate();
    let way = |moved: Moved| if moved == Moved::Later { 1 } else { -1 };
    PictureData {
        threads: threads.iter().map(|thread| texts.text(thread)).collect(),
        events: growth(events.iter().map(|shown| shown.event), u32::wrapping_sub),
        lanes: events.iter().map(|shown| shown.thread).collect(),
        deeds: events.iter().map(|shown| texts.text(&shown.what)).collect(),
        places: events.iter().map(|shown| texts.place(&shown.location)).collect(),
        marks: events.iter().map(marks).collect(),
        sections: sections.iter().map(|(at, lock, begins)| (*at, texts.text(lock), *begins)).collect(),
        order: growth(steps().map(|(_, step)| i64::try_from(step.at).unwrap_or(i64::MAX)), i64::wrapping_sub),
        moved: steps().filter_map(|(at, step)| step.moved.map(|moved| (at, way(moved)))).collect(),
        instead: steps().filter_map(|(at, step)| Some((at, texts.text(step.what.as_ref()?)))).collect(),
        gaps: steps().filter(|(_, step)| step.skipped > 0).map(|(at, step)| (at, step.skipped)).collect(),
        waits: waits.iter().map(|wait| (wait.before, wait.next)).collect(),
        whole: *is_whole,
    }
}

fn marks(shown: &crate::picture::Shown) -> u8 {
    let kind = match shown.kind {
        Kind::Contested => 0,
        Kind::RacingAccess => 1,
        Kind::Synchronisation => 2,
        Kind::Silent => 3,
    };
    kind | if shown.races { RACES } else { 0 } | if shown.is_key { KEY } else { 0 }
}

/// By how much each number is larger than the one before it; the first by how much it is larger than nothing.
fn growth<N: Copy + Default>(numbers: impl Iterator<Item = N>, minus: fn(N, N) -> N) -> Vec<N> {
    let mut last = N::default();
    let grows = |number| minus(number, std::mem::replace(&mut last, number));
    numbers.map(grows).collect()
}

/// What is shown of a file: its lines, and the places in them.
#[derive(Default)]
struct Shown<'a> {
    doubt: Option<Doubt>,
    lines: BTreeMap<u32, &'a str>,
    places: BTreeSet<(u32, u32)>,
}

/// From which letter of a line to which the thing goes that stands at a column: compilers count bytes.
fn token(text: &str, line: u32, column: u32) -> Option<(u32, u32, usize, usize)> {
    let (from, to) = source_text::span(text, column)?;
    let letters = |bytes: usize| Some(text.get(..bytes)?.chars().count());
    // What is spelled out has other columns.
    let is_plain = visible(&text.replace('\t', " ")) == text.replace('\t', " ");
    is_plain.then_some((line, column, letters(from)?, letters(to)?))
}

/// All lines of source files, each of them once.
fn files(reports: &[Report], texts: &mut Texts, sink: &Sink<'_>) -> io::Result<Vec<FileData>> {
    let mut files: BTreeMap<&str, Shown<'_>> = BTreeMap::new();
    for (program, location, excerpt) in reports.iter().flat_map(excerpts) {
        sink.look()?;
        let Some(place) = SourceLocation::parse(location) else { continue };
        let file = if place.file.is_empty() { program.unwrap_or_default() } else { place.file };
        let shown = files.entry(file).or_default();
        // That a line is missing says nothing of the others.
        shown.doubt = shown.doubt.or(excerpt.doubt.filter(|&doubt| doubt != Doubt::Shorter));
        shown.lines.extend((excerpt.first..).zip(excerpt.lines.iter().map(String::as_str)));
        shown.places.extend(place.column.map(|column| (place.line, column)));
    }
    let file = |(name, Shown { doubt, lines, places }): (&str, Shown<'_>)| {
        // In lines that may be others, columns mean nothing.
        let places = places.into_iter().filter(|_| doubt.is_none());
        let tokens = places.filter_map(|(line, column)| token(lines.get(&line)?, line, column)).collect();
        let mut pieces: Vec<(u32, Vec<Text>)> = Vec::new();
        for (number, line) in lines {
            let text = texts.line(line);
            match pieces.last_mut() {
                Some((first, piece)) if usize::try_from(number - *first) == Ok(piece.len()) => {
                    piece.push(text);
                }
                _ => pieces.push((number, vec![text])),
            }
        }
        FileData {
            name: texts.place(name),
            library: is_of_library(name),
            doubt: doubt.map(Doubt::words),
            pieces,
            tokens,
        }
    };
    each(files.into_iter(), sink, file)
}

/// All excerpts of a report, with their locations and the file of those that name none.
fn excerpts(report: &Report) -> impl Iterator<Item = (Option<&str>, &str, &Excerpt)> {
    let program = report.program();
    let races = report.races.iter().flat_map(|race| [&race.first, &race.second]);
    let open = report.undecided.iter().flat_map(|open| [&open.first, &open.second]);
    let of_accesses =
        races.chain(open).filter_map(|access| Some((&*access.location, access.excerpt.as_ref()?)));
    let of_pictures = report.excerpts.iter().map(|(location, excerpt)| (&**location, excerpt));
    of_accesses.chain(of_pictures).map(move |(location, excerpt)| (program, location, excerpt))
}
