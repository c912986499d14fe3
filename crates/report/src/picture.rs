//! A race as a picture: the same events twice, in the order in which they were recorded and in the order of the
//! witness.

use foretell_trace::{EventId, Op, ThreadId, Trace, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::moved::{Moved, moved};
use crate::observed::Observed;
use crate::replayed::Recorded;
use crate::report::{Race, with_title};
use crate::story::{Row, Story, deeds, is_visible, synchronises};
use crate::words::words;

/// How many events all pictures of a report show that show their whole witness.
const WHOLE: usize = 200_000;
/// How many steps of a witness a picture shows that does not show all, beside those that are shown.
const ESSENCE: usize = 200;
/// How many events a picture shows that lay between the two accesses and are not part of the witness.
const BETWEEN: usize = 200;
/// How many events may lie between the two accesses so that each of them is examined.
const LOOKED_AT: usize = 100_000;
/// How many events before and after an access a picture shows that has no witness to show.
const AROUND: usize = 40;

/// What a race looks like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// The threads that appear in it, the racing two first.
    pub threads: Vec<String>,
    /// All events that are shown, in the order in which they were recorded.
    pub events: Vec<Shown>,
    /// The steps of the witness that are shown, in their order; none if there is no witness.
    pub predicted: Vec<Taken>,
    /// Where in the predicted order a racing thread waits that went on in the recorded run.
    pub waits: Vec<Wait>,
    /// Whether all steps of the witness are shown.
    pub is_whole: bool,
}

/// One event of a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// Its number in the trace.
    pub event: u32,
    /// Who: a position in [`Picture::threads`].
    pub thread: usize,
    /// What it did in the recorded run, in words.
    pub what: String,
    /// Where in the program.
    pub location: String,
    /// What kind of event it is.
    pub kind: Kind,
    /// The lock whose section begins or ends here.
    pub section: Option<LockChange>,
    /// Whether it is one of the racing two.
    pub races: bool,
    /// Whether it has to be seen to understand the race.
    pub is_key: bool,
}

/// What an event is, as far as it looks different.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It touches what is raced for.
    Contested,
    /// It touches other memory.
    RacingAccess,
    /// Threads wait for each other by it.
    Synchronisation,
    /// No other thread could notice it.
    Silent,
}

/// A lock, and whether it is held from here on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LockChange {
    /// From here on it is held.
    Begins(String),
    /// From here on it is not.
    Ends(String),
}

/// A step of the witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The event: a position in [`Picture::events`].
    pub at: usize,
    /// What it does here, where that is not what was recorded: values may differ.
    pub what: Option<String>,
    /// How many steps before it are not shown.
    pub skipped: usize,
    /// Whether it comes earlier or later than in the recorded run, seen from most of the others.
    pub moved: Option<Moved>,
}

/// A thread that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// It begins to wait before the step at this position of [`Picture::predicted`].
    pub before: usize,
    /// The event that it comes to afterwards: a position in [`Picture::events`].
    pub next: usize,
}

/// How many more events the pictures of a report may show that show their whole witness.
#[derive(Debug)]
pub struct Room(usize);

impl Room {
    /// All of it.
    pub fn new() -> Room {
        Room(WHOLE)
    }

    fn take(&mut self, events: usize) -> bool {
        let rest = self.0.checked_sub(events);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

impl Default for Room {
    fn default() -> Self {
        Room::new()
    }
}

impl Picture {
    /// The picture of a race of this trace, whose story and whose observed order are already shown; none for what is
    /// no race of it.
    pub fn new(trace: &Trace, recorded: &Recorded, race: &Race, room: &mut Room) -> Option<Picture> {
        let scene = Scene::new(trace, race)?;
        let witness: Option<Vec<EventId>> =
            race.witness.iter().flatten().map(|&number| trace.id(number)).collect();
        let witness = witness?;
        let is_whole = room.take(witness.len());
        let kept = if is_whole { vec![true; witness.len()] } else { scene.essence(&witness) };
        let mut shown: Vec<EventId> =
            witness.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&id, _)| id).collect();
        shown.extend(if witness.is_empty() { scene.around() } else { scene.between(&witness) });
        shown.sort_unstable();
        shown.dedup();
        let (threads, mut events) = scene.events(&shown);
        complete_sections(&mut events);
        let predicted = predicted(trace, recorded, &witness, &kept, &shown);
        let waits = race.story.as_ref().map(|story| waits(story, &events, &predicted)).unwrap_or_default();
        Some(Picture { threads, events, predicted, waits, is_whole })
    }

    /// Takes over the places of steps that a story tells better: those of the program instead of the library.
    pub fn take_places(&mut self, story: &Story) {
        for step in story.steps() {
            if let Ok(at) = self.events.binary_search_by_key(&step.event, |shown| shown.event) {
                self.events[at].location.clone_from(&step.location);
            }
        }
    }
}

/// A race in its trace.
struct Scene<'a> {
    trace: &'a Trace,
    racing: [EventId; 2],
    threads: [ThreadId; 2],
    contested: Option<VarId>,
    /// What is shown of the race in words.
    keys: FxHashSet<EventId>,
    has_story: bool,
}

impl<'a> Scene<'a> {
    fn new(trace: &'a Trace, race: &Race) -> Option<Scene<'a>> {
        let racing = [trace.id(race.first.event)?, trace.id(race.second.event)?];
        let steps = race.story.iter().flat_map(Story::steps).map(|step| step.event);
        let links = match &race.observed {
            Some(Observed::Ordered(links)) => links.as_slice(),
            _ => &[],
        };
        let links = links.iter().flat_map(|link| [link.from.event, link.to.event]);
        let keys = steps.chain(links).filter_map(|number| trace.id(number)).chain(racing).collect();
        Some(Scene {
            trace,
            racing,
            threads: racing.map(|id| trace.event(id).thread),
            contested: trace.event(racing[0]).op.access().map(|access| access.var),
            keys,
            has_story: race.story.is_some(),
        })
    }

    fn kind(&self, op: Op) -> Kind {
        match op.access() {
            Some(access) if Some(access.var) == self.contested => Kind::Contested,
            Some(_) => Kind::RacingAccess,
            None if is_visible(op) => Kind::Synchronisation,
            None => Kind::Silent,
        }
    }

    fn is_of_racing_thread(&self, id: EventId) -> bool {
        self.threads.contains(&self.trace.event(id).thread)
    }

    /// Which steps of a long witness are shown: what is shown, the last ones that matter, and all locks that are held
    /// there.
    fn essence(&self, witness: &[EventId]) -> Vec<bool> {
        let mut kept: Vec<bool> = witness.iter().map(|id| self.keys.contains(id)).collect();
        let matters = |at: &usize| {
            let op = self.trace.event(witness[*at]).op;
            synchronises(op) || self.kind(op) == Kind::Contested
        };
        let mut cut = witness.len();
        for at in (0..witness.len()).rev().filter(matters).take(ESSENCE) {
            kept[at] = true;
            cut = at;
        }
        let mut open = FxHashMap::default();
        for (at, &id) in witness.iter().enumerate().take(cut) {
            let event = self.trace.event(id);
            if let Some((lock, _)) = event.op.section_begin() {
                open.insert((event.thread, lock), at);
            } else if let Some((lock, _)) = event.op.section_end() {
                open.remove(&(event.thread, lock));
            }
        }
        open.into_values().for_each(|at| kept[at] = true);
        kept
    }

    /// What lay between the two accesses and is not part of the witness: of too much, what might explain why they
    /// were apart.
    fn between(&self, witness: &[EventId]) -> Vec<EventId> {
        let [first, second] = self.racing;
        let range = first.index() + 1..second.index();
        if range.len() > LOOKED_AT {
            return self.keys.iter().copied().collect();
        }
        let witness: FxHashSet<EventId> = witness.iter().copied().collect();
        let mut between: Vec<EventId> =
            range.filter_map(EventId::from_index).filter(|id| !witness.contains(id)).collect();
        if between.len() > BETWEEN {
            between.retain(|&id| self.is_of_racing_thread(id) && synchronises(self.trace.event(id).op));
        }
        if between.len() > BETWEEN {
            between.drain(BETWEEN / 2..between.len() - BETWEEN / 2);
        }
        between.extend(&self.keys);
        between
    }

    /// What was recorded around the two accesses.
    fn around(&self) -> Vec<EventId> {
        let [first, second] = self.racing.map(EventId::index);
        let around_first = first.saturating_sub(AROUND)..=(first + AROUND).min(second);
        let before_second = second.saturating_sub(AROUND)..=second;
        let around = around_first.chain(before_second).filter_map(EventId::from_index);
        around.chain(self.keys.iter().copied()).collect()
    }

    /// The threads of these events, and the events in words.
    fn events(&self, ids: &[EventId]) -> (Vec<String>, Vec<Shown>) {
        let names = self.trace.names();
        let mut lanes: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut threads = Vec::new();
        let mut lane = |thread: ThreadId| {
            *lanes.entry(thread).or_insert_with(|| {
                threads.push(with_title(names.threads.name(thread), names.title(thread)));
                threads.len() - 1
            })
        };
        for thread in self.threads {
            lane(thread);
        }
        let shown = |&id: &EventId| {
            let event = self.trace.event(id);
            let kind = self.kind(event.op);
            let begins = event
                .op
                .section_begin()
                .map(|(lock, _)| LockChange::Begins(names.locks.name(lock).to_string()));
            let ends =
                event.op.section_end().map(|(lock, _)| LockChange::Ends(names.locks.name(lock).to_string()));
            // Where nothing is shown, whatever might order the two threads has to be seen.
            let might_order =
                || kind == Kind::Contested || (synchronises(event.op) && self.is_of_racing_thread(id));
            Shown {
                event: id.number(),
                thread: lane(event.thread),
                what: words(event.op, names),
                location: names.loc_text(event.loc).into_owned(),
                kind,
                section: begins.or(ends),
                races: self.racing.contains(&id),
                is_key: self.keys.contains(&id) || (!self.has_story && might_order()),
            }
        };
        let events = ids.iter().map(shown).collect();
        (threads, events)
    }
}

/// Both ends of a critical section are shown together.
fn complete_sections(events: &mut [Shown]) {
    let mut open: FxHashMap<(usize, String), usize> = FxHashMap::default();
    let mut pairs = Vec::new();
    for (at, shown) in events.iter().enumerate() {
        match &shown.section {
            Some(LockChange::Begins(lock)) => drop(open.insert((shown.thread, lock.clone()), at)),
            Some(LockChange::Ends(lock)) => {
                pairs.extend(open.remove(&(shown.thread, lock.clone())).map(|begin| [begin, at]));
            }
            None => {}
        }
    }
    for pair in pairs {
        let is_key = pair.iter().any(|&at| events[at].is_key);
        pair.into_iter().for_each(|at| events[at].is_key |= is_key);
    }
}

/// The steps of the witness that are kept.
fn predicted(
    trace: &Trace,
    recorded: &Recorded,
    witness: &[EventId],
    kept: &[bool],
    shown: &[EventId],
) -> Vec<Taken> {
    let deeds = deeds(trace, recorded, witness, kept);
    let mut steps = Vec::new();
    let mut skipped = 0;
    for (id, &kept) in witness.iter().zip(kept) {
        let Some(at) = shown.binary_search(id).ok().filter(|_| kept) else {
            skipped += 1;
            continue;
        };
        let op = trace.event(*id).op;
        let deed = deeds.get(id).filter(|&&deed| deed != op).map(|&deed| words(deed, trace.names()));
        steps.push(Taken { at, what: deed, skipped: std::mem::take(&mut skipped), moved: None });
    }
    let order: Vec<usize> = steps.iter().map(|step| step.at).collect();
    for (step, moved) in steps.iter_mut().zip(moved(&order)) {
        step.moved = moved;
    }
    steps
}

/// Where the story says that a thread waits.
fn waits(story: &Story, events: &[Shown], predicted: &[Taken]) -> Vec<Wait> {
    let index = |event: u32| events.binary_search_by_key(&event, |shown| shown.event).ok();
    let places: FxHashMap<usize, usize> =
        predicted.iter().enumerate().map(|(position, step)| (step.at, position)).collect();
    let place = |row: &Row| match row {
        Row::Step(step) => places.get(&index(step.event)?).copied(),
        _ => None,
    };
    let mut waits = Vec::new();
    // Where the last step left off, unless steps that are not shown came after it.
    let mut here = Some(0);
    for (at, row) in story.rows.iter().enumerate() {
        match row {
            Row::Step(_) => here = place(row).map(|place| place + 1),
            Row::Skipped { .. } | Row::SkippedByAll { .. } => here = None,
            Row::Waits(next) => {
                let before = here.or_else(|| story.rows[at..].iter().find_map(place));
                let wait = before.zip(index(next.event)).map(|(before, next)| Wait { before, next });
                waits.extend(wait);
            }
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use crate::report::{Proof, RacingAccess};
    use crate::sample;

    use super::*;

    const BANK: &str = "main|fork(t)|1\nmain|fork(a)|2\nt|w(note,1)|3\nt|acq(l)|4\nt|r(b,0)|5\nt|rel(l)|6\na|acq(l)|7\n\
                        a|r(limit,0)|8\na|rel(l)|9\na|r(note,1)|10\n";

    /// The race of these two events, with its story and what hid it.
    fn race(trace: &Trace, events: [u32; 2], witness: Option<&[u32]>) -> Race {
        let [first, second] = events.map(|event| trace.id(event).unwrap());
        let access = |id: EventId| RacingAccess::new(id, trace.event(id), trace.names());
        let recorded = Recorded::new(trace);
        Race {
            proof: if witness.is_some() { Proof::Adjacent } else { Proof::Unordered },
            witness: witness.map(<[u32]>::to_vec),
            witness_length: witness.map(<[u32]>::len),
            story: witness
                .and_then(|witness| Story::new(trace, &recorded, witness, crate::StoryDetail::Essence)),
            observed: Observed::new(trace, first, second, witness),
            ..sample::race(access(first), access(second))
        }
    }

    fn picture(trace: &Trace, race: &Race, room: &mut Room) -> Picture {
        Picture::new(trace, &Recorded::new(trace), race, room).unwrap()
    }

    fn numbers(picture: &Picture) -> Vec<u32> {
        picture.events.iter().map(|shown| shown.event).collect()
    }

    fn order(picture: &Picture) -> Vec<u32> {
        picture.predicted.iter().map(|step| picture.events[step.at].event).collect()
    }

    #[test]
    fn both_orders_have_the_same_events_and_what_lay_between() {
        let trace = foretell_testkit::trace(BANK);
        let witness = [1, 2, 7, 8, 9, 3, 10];
        let picture = picture(&trace, &race(&trace, [3, 10], Some(&witness)), &mut Room::new());
        assert_eq!(picture.threads, ["t", "a", "main"], "the racing two first");
        assert_eq!(numbers(&picture), (1..=10).collect::<Vec<_>>());
        assert_eq!(order(&picture), witness);
        let moved: Vec<_> = picture
            .predicted
            .iter()
            .filter_map(|step| Some((picture.events[step.at].event, step.moved?)))
            .collect();
        assert_eq!(moved, [(3, Moved::Later)]);
        let key: Vec<u32> =
            picture.events.iter().filter(|shown| shown.is_key).map(|shown| shown.event).collect();
        assert_eq!(key, [1, 2, 3, 4, 6, 7, 8, 9, 10], "the section that hid it from its beginning on");
        assert_eq!(picture.waits, [Wait { before: 2, next: 2 }], "the teller waits with its note");
        assert_eq!(picture.events[3].section, Some(LockChange::Begins("l".to_string())));
        assert!(picture.is_whole);
    }

    #[test]
    fn values_are_those_of_the_order() {
        let trace = foretell_testkit::trace("a|w(x,1)|1\na|w(y,1)|2\nb|r(x,1)|3\nb|r(y,1)|4\n");
        let picture = picture(&trace, &race(&trace, [2, 4], Some(&[1, 3, 2, 4])), &mut Room::new());
        let instead: Vec<_> = picture.predicted.iter().filter_map(|step| step.what.as_deref()).collect();
        assert_eq!(instead, ["reads y"], "what it sees is unknown");
    }

    #[test]
    fn without_a_witness_the_recorded_order_is_shown_around_the_two() {
        let quiet = "c|r(z)|7\n".repeat(200);
        let trace = foretell_testkit::trace(&format!("{quiet}a|w(x,1)|1\n{quiet}b|r(x,1)|2\n{quiet}"));
        let picture = picture(&trace, &race(&trace, [201, 402], None), &mut Room::new());
        assert_eq!(picture.predicted, []);
        let numbers = numbers(&picture);
        assert_eq!((numbers.first(), numbers.last()), (Some(&161), Some(&402)));
        assert_eq!(numbers.len(), 2 * AROUND + 1 + AROUND + 1);
        let key: Vec<u32> =
            picture.events.iter().filter(|shown| shown.is_key).map(|shown| shown.event).collect();
        assert_eq!(key, [201, 402]);
    }

    #[test]
    fn of_a_witness_that_is_too_long_what_matters_is_shown() {
        let section = "a|acq(m)|1\na|w(own)|2\na|rel(m)|3\n".repeat(300);
        let text = format!("a|acq(held)|0\n{section}a|w(x)|4\nb|w(x)|5\n");
        let trace = foretell_testkit::trace(&text);
        let witness: Vec<u32> = (1..=903).collect();
        let mut room = Room(1_000);
        let race = race(&trace, [902, 903], Some(&witness));
        assert!(picture(&trace, &race, &mut room).is_whole);
        let essence = picture(&trace, &race, &mut room);
        assert!(!essence.is_whole, "there is no more room");
        assert!(essence.predicted.len() <= ESSENCE + 40, "{}", essence.predicted.len());
        assert_eq!(essence.events[0].event, 1, "the lock that is held all the time");
        let skipped: usize = essence.predicted.iter().map(|step| step.skipped).sum();
        assert_eq!(skipped + essence.predicted.len(), witness.len(), "what is left out is counted");
        let mut held = 0;
        for shown in &essence.events {
            held += match &shown.section {
                Some(LockChange::Begins(_)) => 1,
                Some(LockChange::Ends(_)) => -1,
                None => 0,
            };
            assert!(held >= 0, "every section that ends has begun");
        }
    }

    #[test]
    fn between_two_accesses_that_are_far_apart_only_what_orders_them_is_shown() {
        let busy = "a|w(own)|2\n".repeat(1_000);
        let text = format!("a|w(x)|1\n{busy}a|acq(l)|3\na|rel(l)|4\nb|acq(l)|5\nb|rel(l)|6\nb|w(x)|7\n");
        let trace = foretell_testkit::trace(&text);
        let race = race(&trace, [1, 1006], Some(&[1004, 1005, 1, 1006]));
        assert_eq!(numbers(&picture(&trace, &race, &mut Room::new())), [1, 1002, 1003, 1004, 1005, 1006]);
    }
}
