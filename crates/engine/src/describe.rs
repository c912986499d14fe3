//! From an analysis to a report: stacks, locks, source lines, and how each race comes about. Looked up once everything
//! is decided, in one pass over the trace for all that was found.

use std::sync::Arc;

use foretell_depend::Detour;
use foretell_report::{
    Candidate, Decision, Excerpt, NOT_EXECUTED, NeededReads, NewValue, Observed, Picture, PredictedDeadlock,
    Race, RacingAccess, Recorded, Report, Room, Story, StoryDetail, Walk, add_places, add_surroundings,
    fingerprint, part,
};
use foretell_trace::{EventId, Names, Trace};

use crate::analysis::{self, Analysis, Found, InShards};
use crate::control::{Control, LISTED_LATE};
use crate::error::Error;
use crate::input::Input;
use crate::slice::Sliced;
use crate::witness_schedule::{Origin, Schedules};

/// How many events may be looked at in all to find out why the recorded run hides races.
const LOOKED_AT: usize = 20_000_000;
/// And in how long a trace, if everything is to stop.
const LOOKED_AT_LATE: usize = 2_000_000;
/// After so many events it is asked whether there is time left.
const LOOKS: usize = 1 << 16;
/// How many races of a report have a story; more would hardly be read.
const STORIES: usize = 1_000;
/// How many places of pictures are shown with the lines of the program.
const PLACES: usize = 5_000;

/// Shows lines of source files.
pub trait Excerpts {
    /// What is around the place that a location names, if it names one.
    fn excerpt(&mut self, location: &str) -> Option<Excerpt>;
}

/// Shows no source files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExcerpts;

impl Excerpts for NoExcerpts {
    fn excerpt(&mut self, _: &str) -> Option<Excerpt> {
        None
    }
}

/// What a report is to have beside the races.
#[derive(Clone, Copy)]
pub struct Description<'a> {
    /// How much of the stories is wanted.
    pub detail: StoryDetail,
    /// Whether races are drawn.
    pub pictures: bool,
    /// What the schedules of races are for; none if there are to be no schedules.
    pub origin: Option<Origin<'a>>,
    /// The slice that was analysed, if it was not the whole trace.
    pub slice: Option<&'a Sliced>,
}

impl Default for Description<'_> {
    fn default() -> Self {
        let origin = Some(Origin::default());
        Description { detail: StoryDetail::Essence, pictures: false, origin, slice: None }
    }
}

impl From<Analysis> for Report {
    /// The report of what was found, without anything around it.
    fn from(mut analysis: Analysis) -> Report {
        let in_shards = analysis.in_shards.take();
        let mut report = bare(analysis, None);
        add_shards(&mut report, in_shards, &mut NoExcerpts);
        report
    }
}

fn bare(analysis: Analysis, trace: Option<&Trace>) -> Report {
    let mut report = Report::new(analysis.choice.name());
    report.trace = analysis.trace;
    report.window = analysis.window;
    report.interrupted = analysis.interrupted;
    report.notes = analysis.notes.iter().map(ToString::to_string).collect();
    report.races = analysis.races.into_iter().map(|found| race(found, trace)).collect();
    report.undecided = analysis.undecided.into_iter().map(candidate).collect();
    report.deadlocks = analysis.deadlocks.into_iter().map(|found| found.told).collect();
    report.violations = analysis.violations.into_iter().map(|found| found.told).collect();
    let (stats, counts) = (&mut report.stats, analysis.counts);
    stats.refuted = counts.refuted;
    (stats.deadlocks_refuted, stats.deadlocks_undecided) =
        (analysis.circles.refuted, analysis.circles.undecided);
    (stats.violations_refuted, stats.violations_undecided) =
        (analysis.violation_counts.refuted, analysis.violation_counts.undecided);
    stats.not_in_window = counts.not_in_window;
    stats.not_examined = counts.not_examined;
    stats.not_listed = counts.not_listed;
    stats.not_recomputed = counts.not_recomputed;
    stats.forgotten_accesses = counts.forgotten_accesses;
    stats.not_computed = analysis.not_computed;
    let not_listed = usize::try_from(stats.not_listed).unwrap_or(usize::MAX);
    stats.candidates = report.races.len() + report.undecided.len().saturating_add(not_listed);
    stats.witnesses_not_printed = report.races.iter().filter(|race| race.is_witness_left_out()).count();
    stats.seconds = analysis.elapsed.as_secs_f64();
    report.complete = !report.is_open() && !report.trace.cut_short;
    report
}

/// The race as it is reported; `trace` is the recorded run, if it is in memory.
fn race(found: Found, trace: Option<&Trace>) -> Race {
    let trace = found.branch.as_ref().map(|branch| &branch.trace).or(trace);
    let new_values = found.values.iter().cloned();
    let values = trace.map(|trace| new_values.map(|new| NewValue::new(new, trace)).collect());
    let path = found.branch.is_some().then(|| NOT_EXECUTED.to_string());
    let race = Race::of_accesses(found.finding.proof(), found.accesses);
    Race { witness_length: found.witness_length, values: values.unwrap_or_default(), path, ..race }
}

fn candidate(open: analysis::Candidate) -> Candidate {
    let [first, second] = open.accesses;
    let reason = match open.is_untaken {
        true => format!("on a way {NOT_EXECUTED}: {}", open.reason),
        false => open.reason.to_string(),
    };
    Candidate { first, second, reason, more: open.more, fingerprint: None }
}

/// Makes a report of the analysis: with what is around its accesses, the stories of its races, what all that is known
/// by from run to run, and schedules for the program. The input is the one that was analysed, or the whole trace if
/// that was a slice.
pub fn report(
    input: &Input<'_>,
    mut analysis: Analysis,
    how: &Description<'_>,
    excerpts: &mut dyn Excerpts,
    control: &dyn Control,
) -> Result<Report, Error> {
    let proven = analysis.races.len() + analysis.counts.proven_not_listed;
    let in_shards = analysis.in_shards.take();
    if control.must_report_at_once() {
        analysis.races.truncate(LISTED_LATE);
    }
    let branches: Vec<Arc<Detour>> = analysis.races.iter().filter_map(|found| found.branch.clone()).collect();
    let is_untaken: Vec<bool> = analysis.undecided.iter().map(|open| open.is_untaken).collect();
    let mut report = bare(analysis, input.trace());
    if let Some(sliced) = how.slice {
        sliced.enter(&mut report);
    }
    // Untaken branches are followed last, so their races come after all others.
    let of_run = report.races.len() - branches.len();
    let (races, of_branches) = report.races.split_at_mut(of_run);
    let open = report.undecided.iter_mut().zip(is_untaken).filter(|open| !open.1).map(|open| open.0);
    let mut painter = Describer { how, excerpts, control, left_out: 0 };
    painter.describe(input, races, open)?;
    for (branch, race) in branches.iter().zip(of_branches.iter_mut()) {
        let input = Input::of_trace(input.name(), &branch.trace);
        painter.describe(&input, std::slice::from_mut(race), std::iter::empty())?;
        // What the recorded run did, it did on another path.
        (race.observed, race.reads) = (None, None);
    }
    let left_out = painter.left_out;
    if left_out > 0 {
        let races = if left_out == 1 { "1 race is".to_string() } else { format!("{left_out} races are") };
        report.notes.push(format!("{races} listed without how it comes about: there was no time for that"));
    }
    if control.must_report_at_once() && of_run > LISTED_LATE {
        report.races.drain(LISTED_LATE..of_run);
    }
    let not_listed = proven - report.races.len();
    if not_listed > 0 {
        let note =
            format!("{not_listed} more proven races are not listed at all: there was no time for that");
        report.notes.push(note);
        report.complete = false;
    }
    look_around_deadlocks(input, &mut report, control);
    look_around_violations(input, &mut report, excerpts, control)?;
    describe_deadlocks(&mut report, excerpts);
    add_shards(&mut report, in_shards, excerpts);
    add_excerpts(&mut report, excerpts);
    fingerprint::mark(&mut report);
    add_schedules(input, &branches, &mut report, how, control);
    Ok(report)
}

/// Adds what was found in shards, with the lines of the program.
fn add_shards(report: &mut Report, found: Option<InShards>, excerpts: &mut dyn Excerpts) {
    let Some(InShards { results, apart, by_location, witness_steps }) = found else { return };
    let (races, open) = (report.races.len(), report.undecided.len());
    part::add(report, results, &apart, by_location, witness_steps);
    let races = report.races[races..].iter_mut().map(|race| [&mut race.first, &mut race.second]);
    let open = report.undecided.iter_mut().skip(open).map(|open| [&mut open.first, &mut open.second]);
    for access in races.chain(open).flatten() {
        access.excerpt = excerpts.excerpt(&access.location);
        access.source = access.excerpt.as_ref().and_then(|excerpt| excerpt.line_of(&access.location));
    }
}

/// The report of what was found, with what is around its accesses, but not how races come about.
pub(crate) fn report_without_stories(
    input: &Input<'_>,
    analysis: Analysis,
    excerpts: &mut dyn Excerpts,
    control: &dyn Control,
) -> Result<Report, Error> {
    let mut report = bare(analysis, None);
    let mut told = Told::default();
    let races = report.races.iter_mut().map(|race| [&mut race.first, &mut race.second]);
    let open = report.undecided.iter_mut().map(|open| [&mut open.first, &mut open.second]);
    told.accesses.extend(races.chain(open).flatten());
    told.look_around(input, excerpts, control)?;
    Ok(report)
}

/// Adds stacks and held locks to the threads of deadlocks.
fn look_around_deadlocks(input: &Input<'_>, report: &mut Report, control: &dyn Control) {
    // What is a deadlock was decided in memory.
    let Some(trace) = input.trace().filter(|trace| !is_no_time(trace, control)) else { return };
    let events = report.deadlocks.iter().flat_map(PredictedDeadlock::events);
    let mut walk = Walk::new(events.filter_map(EventId::from_number));
    if !walk.is_done() {
        walk.batch(EventId::FIRST, trace.events());
    }
    let around = walk.finish();
    for deadlock in &mut report.deadlocks {
        deadlock.add_surroundings(&around, trace.names());
    }
}

/// Adds what is around the two events of each violation.
fn look_around_violations(
    input: &Input<'_>,
    report: &mut Report,
    excerpts: &mut dyn Excerpts,
    control: &dyn Control,
) -> Result<(), Error> {
    let mut told = Told::default();
    for violation in &mut report.violations {
        told.accesses.extend([&mut violation.first, &mut violation.second]);
    }
    told.look_around(input, excerpts, control)
}

/// Adds to each race, deadlock and violation with a witness the schedule for it.
fn add_schedules(
    input: &Input<'_>,
    branches: &[Arc<Detour>],
    report: &mut Report,
    how: &Description<'_>,
    control: &dyn Control,
) {
    // The witness of a slice leaves out what does not matter to the race, but not to the program.
    let Some(origin) = how.origin.filter(|_| report.trace.slice.is_none()) else { return };
    let mut schedules = Schedules::new(origin, report.program().is_some());
    let of_run = report.races.len() - branches.len();
    let (races, of_branches) = report.races.split_at_mut(of_run);
    if let Some(trace) = input.trace().filter(|trace| !is_no_time(trace, control)) {
        schedules.add(trace, races, &mut report.deadlocks, &mut report.violations);
    }
    for (branch, race) in branches.iter().zip(of_branches) {
        if !is_no_time(&branch.trace, control) {
            schedules.add(&branch.trace, std::slice::from_mut(race), &mut [], &mut []);
        }
    }
}

/// Describes races of one trace after the other.
struct Describer<'a> {
    how: &'a Description<'a>,
    excerpts: &'a mut dyn Excerpts,
    control: &'a dyn Control,
    /// How many races have no story for want of time.
    left_out: usize,
}

impl Describer<'_> {
    /// Describes races and candidates whose events are those of the input.
    fn describe<'r>(
        &mut self,
        input: &Input<'_>,
        races: &'r mut [Race],
        open: impl Iterator<Item = &'r mut Candidate>,
    ) -> Result<(), Error> {
        if let Some(trace) = input.trace() {
            let mut left_out = add_stories(trace, races, self.how.detail, self.control);
            if self.how.pictures {
                left_out = left_out.max(draw_pictures(trace, races, self.control));
            }
            self.left_out += left_out;
        }
        let mut told = Told::default();
        for race in races {
            told.add_race(race);
        }
        for open in open {
            told.accesses.extend([&mut open.first, &mut open.second]);
        }
        told.look_around(input, self.excerpts, self.control)
    }
}

/// Adds what is around accesses alone.
pub fn describe_accesses(
    input: &Input<'_>,
    accesses: &mut [RacingAccess],
    excerpts: &mut dyn Excerpts,
    control: &dyn Control,
) -> Result<(), Error> {
    let mut told = Told::default();
    told.accesses.extend(accesses);
    told.look_around(input, excerpts, control)
}

/// Describes one race of a report, whose excerpts stay as they are.
pub fn describe_race(
    input: &Input<'_>,
    race: &mut Race,
    detail: StoryDetail,
    excerpts: &mut dyn Excerpts,
    control: &dyn Control,
) -> Result<(), Error> {
    let shown = [&race.first, &race.second].map(|access| (access.excerpt.clone(), access.source.clone()));
    if let Some(trace) = input.trace() {
        add_stories(trace, std::slice::from_mut(race), detail, control);
    }
    let mut told = Told::default();
    told.add_race(race);
    told.look_around(input, excerpts, control)?;
    for (access, (excerpt, source)) in [&mut race.first, &mut race.second].into_iter().zip(shown) {
        if excerpt.is_some() {
            (access.excerpt, access.source) = (excerpt, source);
        }
    }
    Ok(())
}

/// What kept the accesses of a decided pair apart in the recorded run, where that is known.
pub fn observed(trace: &Trace, decision: &Decision) -> Option<Observed> {
    let (first, second) = (trace.id(decision.first.event)?, trace.id(decision.second.event)?);
    Observed::new(trace, first, second, decision.witness.as_deref())
}

/// Describes the word on one pair.
pub fn describe_decision(
    input: &Input<'_>,
    decision: &mut Decision,
    detail: StoryDetail,
    excerpts: &mut dyn Excerpts,
    control: &dyn Control,
) -> Result<(), Error> {
    if let (Some(trace), Some(witness)) = (input.trace(), &decision.witness) {
        let recorded = Recorded::new(trace);
        decision.story = Story::new(trace, &recorded, witness, detail);
        decision.reads = NeededReads::new(trace, &recorded, witness);
    }
    let mut told = Told::default();
    told.accesses.extend([&mut decision.first, &mut decision.second]);
    told.add_steps(decision.story.as_mut());
    told.add_reads(decision.reads.as_mut());
    told.look_around(input, excerpts, control)
}

/// What a report describes of the events of a trace.
#[derive(Default)]
struct Told<'a> {
    accesses: Vec<&'a mut RacingAccess>,
    /// The numbers of other events, and where they are.
    places: Vec<(u32, &'a mut String)>,
}

impl<'a> Told<'a> {
    fn add_race(&mut self, race: &'a mut Race) {
        self.accesses.extend([&mut race.first, &mut race.second]);
        self.add_steps(race.story.as_mut());
        self.add_reads(race.reads.as_mut());
        let deeds = race.observed.iter_mut().flat_map(Observed::deeds_mut);
        self.places.extend(deeds.map(|deed| (deed.event, &mut deed.location)));
    }

    fn add_steps(&mut self, story: Option<&'a mut Story>) {
        let steps = story.into_iter().flat_map(Story::steps_mut);
        self.places.extend(steps.map(|step| (step.event, &mut step.location)));
    }

    fn add_reads(&mut self, reads: Option<&'a mut NeededReads>) {
        let deeds = reads.into_iter().flat_map(NeededReads::deeds_mut);
        self.places.extend(deeds.map(|deed| (deed.event, &mut deed.location)));
    }

    /// Adds what is around each event.
    fn look_around(
        self,
        input: &Input<'_>,
        excerpts: &mut dyn Excerpts,
        control: &dyn Control,
    ) -> Result<(), Error> {
        if self.accesses.is_empty() {
            return Ok(());
        }
        let numbers = self.accesses.iter().map(|access| access.event);
        let numbers = numbers.chain(self.places.iter().map(|place| place.0));
        let mut walk = Walk::new(numbers.filter_map(EventId::from_number));
        if let Some(trace) = input.trace() {
            let accessed = self.accesses.iter().filter_map(|access| trace.id(access.event));
            let vars = accessed.filter_map(|id| trace.event(id).op.access()).map(|access| access.var);
            walk = walk.with_memory(vars);
            for (number, events) in trace.events().chunks(LOOKS).enumerate() {
                let Some(first) = EventId::from_index(number * LOOKS) else { break };
                if walk.is_done() || control.is_urgent() {
                    break;
                }
                walk.batch(first, events);
            }
            self.enter(walk, trace.names(), excerpts);
        } else {
            // A stop does not wait for this.
            let mut reading = input.open("looks up")?;
            while !walk.is_done() && !control.is_urgent() {
                let Some((first, events)) = reading.next()? else { break };
                walk.batch(first, events);
            }
            self.enter(walk, &reading.into_names(), excerpts);
        }
        Ok(())
    }

    fn enter(mut self, walk: Walk, names: &Names, excerpts: &mut dyn Excerpts) {
        let around = walk.finish();
        add_surroundings(self.accesses.iter_mut().map(|access| &mut **access), &around, names);
        add_places(self.places, &around, names);
        for access in self.accesses {
            access.excerpt = excerpts.excerpt(&access.location);
            access.source = access.excerpt.as_ref().and_then(|excerpt| excerpt.line_of(&access.location));
        }
    }
}

/// Says how many are left out for want of time.
fn add_stories(trace: &Trace, races: &mut [Race], detail: StoryDetail, control: &dyn Control) -> usize {
    if races.is_empty() {
        return 0;
    }
    let told = races.len().min(STORIES);
    if is_no_time(trace, control) {
        return told;
    }
    let recorded = Recorded::new(trace);
    let mut left = LOOKED_AT;
    for (number, race) in races.iter_mut().take(STORIES).enumerate() {
        if control.is_urgent() {
            return told - number;
        }
        let witness = race.witness.as_ref();
        race.story = witness.and_then(|witness| Story::new(trace, &recorded, witness, detail));
        // A trace in a file lacks what the report may already have.
        let reads = witness.and_then(|witness| NeededReads::new(trace, &recorded, witness));
        race.reads = reads.or(race.reads.take());
        let (Some(first), Some(second)) = (trace.id(race.first.event), trace.id(race.second.event)) else {
            continue;
        };
        // The way from one to the other is gone twice at most.
        if let Some(rest) = left.checked_sub(2 * second.index().saturating_sub(first.index())) {
            left = rest;
            race.observed = Observed::new(trace, first, second, race.witness.as_deref());
        }
    }
    0
}

/// Draws those races that have a story, or could have one; says how many are left out for want of time.
fn draw_pictures(trace: &Trace, races: &mut [Race], control: &dyn Control) -> usize {
    let drawn = races.len().min(STORIES);
    if is_no_time(trace, control) {
        return drawn;
    }
    let recorded = Recorded::new(trace);
    let mut room = Room::new();
    for (number, race) in races.iter_mut().take(STORIES).enumerate() {
        if control.is_urgent() {
            return drawn - number;
        }
        race.picture = Picture::new(trace, &recorded, race, &mut room).map(Box::new);
    }
    0
}

/// Whether everything is to stop, and there are too many events to go through all of them for each question.
fn is_no_time(trace: &Trace, control: &dyn Control) -> bool {
    control.is_urgent() || (control.is_stopped() && trace.events().len() > LOOKED_AT_LATE)
}

/// Adds the lines of the program where threads wait for ever.
pub fn describe_deadlocks(report: &mut Report, excerpts: &mut dyn Excerpts) {
    let seen = report.hunt.iter().flat_map(|hunt| &hunt.deadlocks).flat_map(|deadlock| &deadlock.waiting);
    for waiting in report.deadlocks.iter().flat_map(|deadlock| &deadlock.waiting).chain(seen) {
        if let Some(excerpt) = excerpts.excerpt(&waiting.location) {
            report.excerpts.insert(waiting.location.clone(), excerpt);
        }
    }
}

/// Adds the lines of the program that pictures are about, those that have to be seen first.
fn add_excerpts(report: &mut Report, excerpts: &mut dyn Excerpts) {
    for race in &mut report.races {
        if let (Some(picture), Some(story)) = (&mut race.picture, &race.story) {
            picture.take_places(story);
        }
    }
    let shown =
        || report.races.iter().filter_map(|race| race.picture.as_ref()).flat_map(|picture| &picture.events);
    let places = shown().filter(|shown| shown.is_key).chain(shown()).map(|shown| &shown.location);
    for place in places {
        if report.excerpts.len() >= PLACES {
            break;
        }
        if !report.excerpts.contains_key(place)
            && let Some(excerpt) = excerpts.excerpt(place)
        {
            report.excerpts.insert(place.clone(), excerpt);
        }
    }
}
