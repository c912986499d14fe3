//! A witness as a story: the steps that matter, in their new order, and where threads wait that went on in the
//! recorded run.

use std::collections::BTreeMap;

use foretell_trace::{Event, EventId, Op, ThreadId, Trace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::context::NOWHERE;
use crate::replayed::{Recorded, Replay, with_values};
use crate::report::with_title;
use crate::words::words;

/// How many of its last steps before the race a racing thread shows, whatever they are.
const LAST_STEPS: usize = 2;
/// How many of the last accesses to what is raced for are shown, by any thread.
const LAST_ACCESSES: usize = 4;
/// How many rows a story has at most; of more, the last ones are kept.
const ROWS: usize = 30;

/// How a race comes about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Story {
    /// The threads that appear in it, in the order of their first rows.
    pub threads: Vec<String>,
    /// What the program calls those of them that it gives names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub thread_names: BTreeMap<String, String>,
    /// What happens.
    pub rows: Vec<Row>,
}

/// One line of a story. Threads are positions in [`Story::threads`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Row {
    /// A thread takes a step.
    Step(StoryStep),
    /// A racing thread waits, though in the recorded run it went on before what others do now; this is what it comes
    /// to next.
    Waits(StoryStep),
    /// Steps of one thread that are not shown.
    Skipped {
        /// Who takes them.
        thread: usize,
        /// How many there are.
        steps: usize,
    },
    /// Steps of several threads that are not shown.
    SkippedByAll {
        /// How many there are.
        steps: usize,
    },
}

/// One step of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoryStep {
    /// Who.
    pub thread: usize,
    /// Its number in the recorded run.
    pub event: u32,
    /// What, in words.
    pub what: String,
    /// Where.
    pub location: String,
    /// Whether it is one of the racing two.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub races: bool,
}

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoryDetail {
    /// What matters.
    Essence,
    /// Everything.
    All,
}

impl Story {
    /// The threads, with what the program calls them.
    pub(crate) fn thread_words(&self) -> impl Iterator<Item = String> {
        let title = |thread| self.thread_names.get(thread).map(String::as_str);
        self.threads.iter().map(move |thread| with_title(thread, title(thread)))
    }

    /// All steps that are shown.
    pub fn steps(&self) -> impl Iterator<Item = &StoryStep> {
        self.rows.iter().filter_map(|row| match row {
            Row::Step(step) | Row::Waits(step) => Some(step),
            Row::Skipped { .. } | Row::SkippedByAll { .. } => None,
        })
    }

    /// The same, to be changed.
    pub fn steps_mut(&mut self) -> impl Iterator<Item = &mut StoryStep> {
        self.rows.iter_mut().filter_map(|row| match row {
            Row::Step(step) | Row::Waits(step) => Some(step),
            Row::Skipped { .. } | Row::SkippedByAll { .. } => None,
        })
    }

    /// The story of a witness, which ends with the racing two; none for what is no witness of this trace.
    pub fn new(trace: &Trace, recorded: &Recorded, witness: &[u32], detail: StoryDetail) -> Option<Story> {
        let events: Option<Vec<EventId>> = witness.iter().map(|&number| trace.id(number)).collect();
        let events = events.filter(|events| events.len() >= 2)?;
        let mut builder = Builder {
            trace,
            deeds: FxHashMap::default(),
            columns: FxHashMap::default(),
            threads: Vec::new(),
            rows: Vec::new(),
        };
        let matters = match detail {
            StoryDetail::All => vec![true; events.len()],
            StoryDetail::Essence => what_matters(trace, &events),
        };
        builder.deeds = deeds(trace, recorded, &events, &matters);
        builder.add_rows(&events, &matters, detail);
        let is_known = |(thread, _): &(&str, &str)| builder.threads.iter().any(|shown| shown == thread);
        let titles = trace.names().titles().filter(is_known);
        let thread_names = titles.map(|(thread, title)| (thread.to_string(), title.to_string())).collect();
        Some(Story { threads: builder.threads, thread_names, rows: builder.rows })
    }
}

/// What is done by those steps that are shown, with the values of this schedule.
pub(crate) fn deeds(
    trace: &Trace,
    recorded: &Recorded,
    events: &[EventId],
    matters: &[bool],
) -> FxHashMap<EventId, Op> {
    let mut replay = Replay::new(trace, recorded);
    let mut deeds = FxHashMap::default();
    for (at, &id) in events.iter().enumerate() {
        let mut op = replay.step(id, &trace.event(id));
        if at + 2 >= events.len() {
            // The two happen at the same time: it is unknown what one sees of the other.
            op = with_values(op, None, op.value_written());
        }
        if matters[at] {
            deeds.insert(id, op);
        }
    }
    deeds
}

/// Which steps of the witness are shown.
fn what_matters(trace: &Trace, events: &[EventId]) -> Vec<bool> {
    let (before, racing) = events.split_at(events.len() - 2);
    let contested = trace.event(racing[0]).op.access().map(|access| access.var);
    let mut matters: Vec<bool> = before.iter().map(|&id| synchronises(trace.event(id).op)).collect();
    let accesses = |at: &usize| {
        let event = trace.event(before[*at]);
        event.op.access().map(|access| access.var) == contested && !is_invented(trace, &event)
    };
    (0..before.len()).rev().filter(accesses).take(LAST_ACCESSES).for_each(|at| matters[at] = true);
    for racing in racing {
        let thread = trace.event(*racing).thread;
        let own = (0..before.len()).rev().filter(|&at| {
            let event = trace.event(before[at]);
            event.thread == thread && is_visible(event.op) && !is_invented(trace, &event)
        });
        own.take(LAST_STEPS).for_each(|at| matters[at] = true);
    }
    matters.extend([true, true]);
    matters
}

/// Whether the program did not make this access: recordings use such accesses for the contents of memory.
fn is_invented(trace: &Trace, event: &Event) -> bool {
    event.op.access().is_some() && trace.names().loc_text(event.loc) == NOWHERE
}

/// Whether threads wait for each other by this.
pub(crate) fn synchronises(op: Op) -> bool {
    let is_again = matches!(op, Op::AcquireAgain(_) | Op::ReleaseAgain(_));
    op.access().is_none() && is_visible(op) && !is_again && !matches!(op, Op::Alloc(_))
}

/// Whether the step does anything that another thread could notice.
pub(crate) fn is_visible(op: Op) -> bool {
    !matches!(op, Op::Begin | Op::End | Op::Branch | Op::Enter(_) | Op::Exit(_) | Op::Dummy(_))
}

struct Builder<'a> {
    trace: &'a Trace,
    /// What is done by the steps that are shown.
    deeds: FxHashMap<EventId, Op>,
    /// The column of each thread that has appeared.
    columns: FxHashMap<ThreadId, usize>,
    threads: Vec<String>,
    rows: Vec<Row>,
}

impl Builder<'_> {
    fn add_rows(&mut self, events: &[EventId], matters: &[bool], detail: StoryDetail) {
        let waits = waits(self.trace, events, matters);
        // Rows are made from the end on, so that invisible rows of a long story cost nothing.
        let mut rows = Vec::new();
        let mut skipped = Skipped::default();
        let mut at = events.len();
        while at > 0 && (detail == StoryDetail::All || rows.len() < ROWS) {
            at -= 1;
            if matters[at] {
                rows.extend(skipped.take().map(Draft::Skipped));
                rows.push(Draft::Step(events[at], at + 2 >= events.len()));
            } else {
                skipped.add(self.trace, events[at]);
            }
            if let Some(next) = waits.get(&at) {
                rows.extend(skipped.take().map(Draft::Skipped));
                rows.extend(next.iter().map(|&next| Draft::Waits(next)));
            }
        }
        events[..at].iter().for_each(|&id| skipped.add(self.trace, id));
        rows.extend(skipped.take().map(Draft::Skipped));
        for draft in rows.into_iter().rev() {
            let row = self.row(draft);
            // A wait without visible steps is not worth showing.
            if let (Some(Row::Waits(waiting)), Row::Step(step)) = (self.rows.last(), &row)
                && waiting.thread == step.thread
            {
                self.rows.pop();
            }
            self.rows.push(row);
        }
    }

    fn row(&mut self, draft: Draft) -> Row {
        match draft {
            Draft::Step(id, races) => Row::Step(self.step(id, races)),
            Draft::Waits(id) => Row::Waits(self.step(id, false)),
            Draft::Skipped(Skipped { thread: Some(thread), steps, .. }) => {
                Row::Skipped { thread: self.column(thread), steps }
            }
            Draft::Skipped(Skipped { steps, .. }) => Row::SkippedByAll { steps },
        }
    }

    fn step(&mut self, id: EventId, races: bool) -> StoryStep {
        let (event, names) = (self.trace.event(id), self.trace.names());
        StoryStep {
            thread: self.column(event.thread),
            event: id.number(),
            what: words(self.deeds.get(&id).copied().unwrap_or(event.op), names),
            location: names.loc_text(event.loc).into_owned(),
            races,
        }
    }

    fn column(&mut self, thread: ThreadId) -> usize {
        let (threads, names) = (&mut self.threads, self.trace.names());
        *self.columns.entry(thread).or_insert_with(|| {
            threads.push(names.threads.name(thread).to_string());
            threads.len() - 1
        })
    }
}

/// A row before its words are made.
enum Draft {
    Step(EventId, bool),
    Waits(EventId),
    Skipped(Skipped),
}

/// Steps that are not shown.
#[derive(Default)]
struct Skipped {
    steps: usize,
    /// Who took them, if it was one thread.
    thread: Option<ThreadId>,
}

impl Skipped {
    /// Counts one more, if the program made it, and other threads could notice it.
    fn add(&mut self, trace: &Trace, id: EventId) {
        let event = trace.event(id);
        if is_visible(event.op) && !is_invented(trace, &event) {
            let is_first = self.steps == 0;
            self.thread = Some(event.thread).filter(|&thread| is_first || self.thread == Some(thread));
            self.steps += 1;
        }
    }

    fn take(&mut self) -> Option<Skipped> {
        let taken = std::mem::take(self);
        (taken.steps > 0).then_some(taken)
    }
}

/// A racing thread that is left behind: in the recorded run it had taken its next step before what others do now.
struct Behind {
    thread: ThreadId,
    /// Its steps that are shown and still to come, the next one last.
    shown: Vec<EventId>,
    /// Its steps that are still to come, the next one last.
    ahead: Vec<EventId>,
    /// Whether it could continue: it was started, or is never started in the trace.
    is_started: bool,
    /// Whether it was already shown that it waits.
    waits: bool,
}

impl Behind {
    fn new(trace: &Trace, events: &[EventId], matters: &[bool], thread: ThreadId) -> Behind {
        let own = |&(_, &id): &(usize, &EventId)| trace.event(id).thread == thread;
        let ahead = events.iter().enumerate().rev().filter(own);
        let (shown, ahead) = (ahead.clone().filter(|&(at, _)| matters[at]), ahead);
        Behind {
            thread,
            shown: shown.map(|(_, &id)| id).collect(),
            ahead: ahead.map(|(_, &id)| id).collect(),
            is_started: !events.iter().any(|&id| trace.event(id).op == Op::Fork(thread)),
            waits: false,
        }
    }

    /// Looks at the next step of the witness; returns what the thread waits with, if it begins to wait here.
    fn look(&mut self, id: EventId, event: &Event) -> Option<EventId> {
        if event.thread == self.thread {
            self.ahead.pop();
            self.shown.pop_if(|shown| *shown == id);
            (self.is_started, self.waits) = (true, false);
            return None;
        }
        let begins = self.is_started && !self.waits && self.ahead.last().is_some_and(|&next| next < id);
        self.waits |= begins;
        self.is_started |= event.op == Op::Fork(self.thread);
        if begins { self.shown.last().copied() } else { None }
    }
}

/// Where a racing thread is left behind, by the positions of what comes next in its place: what it waits with.
fn waits(trace: &Trace, events: &[EventId], matters: &[bool]) -> FxHashMap<usize, Vec<EventId>> {
    let mut waits: FxHashMap<usize, Vec<EventId>> = FxHashMap::default();
    let (before, racing) = events.split_at(events.len() - 2);
    for racing in racing {
        let mut behind = Behind::new(trace, events, matters, trace.event(*racing).thread);
        for (at, &id) in before.iter().enumerate() {
            if let Some(next) = behind.look(id, &trace.event(id)) {
                waits.entry(at).or_default().push(next);
            }
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    const BANK: &str = "main|fork(t)|1\nmain|fork(a)|2\nt|w(note,1)|3\nt|acq(l)|4\nt|rel(l)|5\na|acq(l)|6\n\
                        a|r(limit,0)|7\na|rel(l)|8\na|r(note,1)|9\n";

    fn rows(text: &str, witness: &[u32], detail: StoryDetail) -> Vec<String> {
        let trace = foretell_testkit::trace(text);
        let story = Story::new(&trace, &Recorded::new(&trace), witness, detail).unwrap();
        let name = |thread: usize| story.threads[thread].clone();
        let step = |step: &StoryStep| {
            let mark = if step.races { "!" } else { "" };
            format!("{mark}{} {}", name(step.thread), step.what)
        };
        let row = |row: &Row| match row {
            Row::Step(taken) => step(taken),
            Row::Waits(next) => format!("{} (waits)", step(next)),
            Row::Skipped { thread, steps } => format!("{} {steps}", name(*thread)),
            Row::SkippedByAll { steps } => format!("all {steps}"),
        };
        story.rows.iter().map(row).collect()
    }

    #[test]
    fn the_story_tells_who_waits_and_ends_with_the_race() {
        assert_eq!(
            rows(BANK, &[1, 2, 6, 7, 8, 3, 9], StoryDetail::Essence),
            [
                "main starts t",
                "main starts a",
                "t writes note = 1 (waits)",
                "a locks l",
                "a reads limit = 0",
                "a unlocks l",
                "!t writes note = 1",
                "!a reads note"
            ]
        );
        assert_eq!(
            rows(
                "A|r(y,0)|1\nA|r(z,0)|2\nA|w(y,1)|3\nA|w(x,1)|4\nB|r(z,0)|5\nB|branch|6\nB|w(x,2)|7\n",
                &[1, 2, 3, 5, 6, 4, 7],
                StoryDetail::Essence
            ),
            [
                "A 1",
                "A reads z = 0",
                "A writes y = 1",
                "A writes x = 1 (waits)",
                "B reads z = 0",
                "!A writes x = 1",
                "!B writes x = 2"
            ]
        );
    }

    #[test]
    fn what_memory_held_is_no_step() {
        let text = "A|r(x,0)|?\nA|fork(B)|1\nA|w(x,1)|2\nB|w(x,2)|3\n";
        let shown = rows(text, &[1, 2, 3, 4], StoryDetail::Essence);
        assert_eq!(shown, ["A starts B", "!A writes x = 1", "!B writes x = 2"]);
    }

    #[test]
    fn everything_can_be_told() {
        let text = "A|r(y,0)|1\nA|branch|2\n".repeat(100) + "A|w(x,1)|4\nB|w(x,2)|7\n";
        let witness: Vec<u32> = (1..=202).collect();
        assert_eq!(rows(&text, &witness, StoryDetail::All).len(), 202);
        let essence = rows(&text, &witness, StoryDetail::Essence);
        assert!(essence.len() < 8 && essence[0] == "A 98", "{essence:?}");
    }

    #[test]
    fn of_a_hot_variable_the_last_accesses_are_told() {
        let text = "A|r(x,0)|1\nA|w(x,0)|2\n".repeat(100) + "A|w(x,1)|4\nB|w(x,2)|7\n";
        let witness: Vec<u32> = (1..=202).collect();
        let rows = rows(&text, &witness, StoryDetail::Essence);
        assert_eq!((rows.len(), rows[0].as_str()), (LAST_ACCESSES + 3, "A 196"));
    }

    #[test]
    fn of_a_long_story_the_end_is_told() {
        let text = "A|acq(l)|1\nA|rel(l)|2\n".repeat(100) + "A|w(x,1)|4\nB|w(x,2)|7\n";
        let witness: Vec<u32> = (1..=202).collect();
        let rows = rows(&text, &witness, StoryDetail::Essence);
        assert_eq!((rows.len(), rows[0].as_str()), (ROWS + 1, "A 172"));
    }

    #[test]
    fn what_is_no_witness_has_no_story() {
        let trace = foretell_testkit::trace(BANK);
        assert_eq!(Story::new(&trace, &Recorded::new(&trace), &[1, 99], StoryDetail::All), None);
        assert_eq!(Story::new(&trace, &Recorded::new(&trace), &[1], StoryDetail::All), None);
    }
}
