//! What makes a report readable: stacks, locks, source lines, and how each race comes about. Looked up once everything is
//! decided, in one pass over the trace for all that was found.

use foretell_report::{
    Access, Decision, NeededReads, Observed, Picture, Race, Recorded, Report, Room, Story, Telling, Walk,
    add_places, add_surroundings, fingerprint,
};
use foretell_trace::{EventId, Names, Trace};

use crate::analysis::held::Held;
use crate::args::{ReportFormat, WantedArgs};
use crate::error::Failure;
use crate::sources::Sources;
use crate::{schedule, stop};

/// How many events may be looked at in all to find out why the recorded run hides races.
const LOOKED_AT: usize = 20_000_000;
/// And in how long a trace, if everything is to stop.
const LOOKED_AT_LATE: usize = 2_000_000;
/// After so many events it is asked whether there is time left.
const LOOKS: usize = 1 << 16;
/// How many races of a report have a story: nobody reads more.
const STORIES: usize = 1_000;
/// How many places of pictures are shown with the lines of the program.
const PLACES: usize = 5_000;

/// Adds to a report what is around its accesses, the stories of its races where somebody reads them, and what all that is
/// known by from run to run. The events of the report are those of the held trace.
pub(crate) fn describe(held: &Held<'_>, report: &mut Report, wanted: &WantedArgs) -> Result<(), Failure> {
    if let Some(trace) = held.get() {
        let mut left_out = tell_stories(trace, &mut report.races, telling(wanted));
        if wanted.wants(ReportFormat::Html) {
            left_out = left_out.max(draw_pictures(trace, &mut report.races));
        }
        if left_out > 0 {
            let races = if left_out == 1 { "1 race is".to_string() } else { format!("{left_out} races are") };
            report
                .notes
                .push(format!("{races} listed without how it comes about: there was no time for that"));
        }
    }
    let mut told = Told::default();
    for race in &mut report.races {
        told.add_race(race);
    }
    for open in &mut report.undecided {
        told.accesses.extend([&mut open.first, &mut open.second]);
    }
    let mut sources = Sources::new(held.input());
    told.look_around(held, &mut sources)?;
    add_excerpts(report, &mut sources);
    fingerprint::mark(report);
    if let Some(trace) = held.get()
        && !is_no_time(trace)
    {
        schedule::add(trace, report);
    }
    Ok(())
}

/// The same for accesses alone.
pub(crate) fn describe_accesses(held: &Held<'_>, accesses: &mut [Access]) -> Result<(), Failure> {
    let mut told = Told::default();
    told.accesses.extend(accesses);
    told.look_around(held, &mut Sources::new(held.input()))
}

/// The same for one race of a report, whose excerpts stay as they are.
pub(crate) fn describe_race(held: &Held<'_>, race: &mut Race, telling: Telling) -> Result<(), Failure> {
    let shown = [&race.first, &race.second].map(|access| (access.excerpt.clone(), access.source.clone()));
    if let Some(trace) = held.get() {
        tell_stories(trace, std::slice::from_mut(race), telling);
    }
    let mut told = Told::default();
    told.add_race(race);
    told.look_around(held, &mut Sources::new(held.input()))?;
    for (access, (excerpt, source)) in [&mut race.first, &mut race.second].into_iter().zip(shown) {
        if excerpt.is_some() {
            (access.excerpt, access.source) = (excerpt, source);
        }
    }
    Ok(())
}

/// What kept the accesses of a decided pair apart in the recorded run, where that is known.
pub(crate) fn observed(trace: &Trace, decision: &Decision) -> Option<Observed> {
    let (first, second) = (trace.id(decision.first.event)?, trace.id(decision.second.event)?);
    Observed::new(trace, first, second, decision.witness.as_deref())
}

/// The same for the word on one pair.
pub(crate) fn describe_decision(
    held: &Held<'_>,
    decision: &mut Decision,
    telling: Telling,
) -> Result<(), Failure> {
    if let (Some(trace), Some(witness)) = (held.get(), &decision.witness) {
        let recorded = Recorded::new(trace);
        decision.story = Story::new(trace, &recorded, witness, telling);
        decision.reads = NeededReads::new(trace, &recorded, witness);
    }
    let mut told = Told::default();
    told.accesses.extend([&mut decision.first, &mut decision.second]);
    told.add_steps(decision.story.as_mut());
    told.add_reads(decision.reads.as_mut());
    told.look_around(held, &mut Sources::new(held.input()))
}

/// How much of a story is wanted.
pub(crate) fn telling(wanted: &WantedArgs) -> Telling {
    let is_for_people = wanted.wants(ReportFormat::Text);
    if is_for_people && wanted.witness == usize::MAX { Telling::All } else { Telling::Essence }
}

/// All that is told of events of a trace.
#[derive(Default)]
struct Told<'a> {
    accesses: Vec<&'a mut Access>,
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
    fn look_around(self, held: &Held<'_>, sources: &mut Sources) -> Result<(), Failure> {
        if self.accesses.is_empty() {
            return Ok(());
        }
        let numbers = self.accesses.iter().map(|access| access.event);
        let numbers = numbers.chain(self.places.iter().map(|place| place.0));
        let mut walk = Walk::new(numbers.filter_map(EventId::from_number));
        if let Some(trace) = held.get() {
            let accessed = self.accesses.iter().filter_map(|access| trace.id(access.event));
            let vars = accessed.filter_map(|id| trace.event(id).op.access()).map(|access| access.var);
            walk = walk.with_memory(vars);
            for (number, events) in trace.events().chunks(LOOKS).enumerate() {
                let Some(first) = EventId::from_index(number * LOOKS) else { break };
                if walk.is_done() || stop::is_urgent() {
                    break;
                }
                walk.batch(first, events);
            }
            self.enter(walk, trace.names(), sources);
        } else {
            // Whoever wants everything to stop does not wait for this.
            let mut reading = held.input().open("looks up")?;
            while !walk.is_done() && !stop::is_urgent() {
                let Some((first, events)) = reading.next()? else { break };
                walk.batch(first, events);
            }
            reading.done();
            self.enter(walk, reading.names(), sources);
        }
        Ok(())
    }

    fn enter(mut self, walk: Walk, names: &Names, sources: &mut Sources) {
        let around = walk.finish();
        add_surroundings(self.accesses.iter_mut().map(|access| &mut **access), &around, names);
        add_places(self.places, &around, names);
        for access in self.accesses {
            access.excerpt = sources.excerpt(&access.location);
            access.source = access.excerpt.as_ref().and_then(|excerpt| excerpt.line_of(&access.location));
        }
    }
}

/// Says how many are left out for want of time.
fn tell_stories(trace: &Trace, races: &mut [Race], telling: Telling) -> usize {
    if races.is_empty() {
        return 0;
    }
    let told = races.len().min(STORIES);
    if is_no_time(trace) {
        return told;
    }
    let recorded = Recorded::new(trace);
    let mut left = LOOKED_AT;
    for (number, race) in races.iter_mut().take(STORIES).enumerate() {
        if stop::is_urgent() {
            return told - number;
        }
        let witness = race.witness.as_ref();
        race.story = witness.and_then(|witness| Story::new(trace, &recorded, witness, telling));
        // A trace that was kept in a file does not tell what the report may have been told before.
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
fn draw_pictures(trace: &Trace, races: &mut [Race]) -> usize {
    let drawn = races.len().min(STORIES);
    if is_no_time(trace) {
        return drawn;
    }
    let recorded = Recorded::new(trace);
    let mut room = Room::new();
    for (number, race) in races.iter_mut().take(STORIES).enumerate() {
        if stop::is_urgent() {
            return drawn - number;
        }
        race.picture = Picture::new(trace, &recorded, race, &mut room).map(Box::new);
    }
    0
}

/// Whether everything is to stop, and there are too many events to go through all of them for each question.
fn is_no_time(trace: &Trace) -> bool {
    stop::is_urgent() || (stop::is_requested() && trace.events().len() > LOOKED_AT_LATE)
}

/// Adds the lines of the program where threads wait for ever.
pub(crate) fn describe_deadlocks(report: &mut Report, sources: &mut Sources) {
    let deadlocks = report.hunt.iter().flat_map(|hunt| &hunt.deadlocks);
    for waiting in deadlocks.flat_map(|deadlock| &deadlock.waiting) {
        if let Some(excerpt) = sources.excerpt(&waiting.location) {
            report.excerpts.insert(waiting.location.clone(), excerpt);
        }
    }
}

/// Adds the lines of the program that pictures are about, those that have to be seen first.
fn add_excerpts(report: &mut Report, sources: &mut Sources) {
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
            && let Some(excerpt) = sources.excerpt(place)
        {
            report.excerpts.insert(place.clone(), excerpt);
        }
    }
}
