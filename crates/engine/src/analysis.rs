//! What an analysis finds.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use foretell_depend::Detour;
use foretell_detect::{Pair, Pairs};
use foretell_predict::{Key, Limit, Technique};
use foretell_report::{ApartPairs, RacingAccess, ShardResult, TraceInfo};
use foretell_trace::{Event, EventId, Names};
use foretell_witness::{Finding, Model, NewValues, Proof, Rejection};

use crate::deadlocks::{FoundDeadlock, GoalCounts};
use crate::input::Unread;
use crate::plan::{Choice, Plan};
use crate::violations::FoundViolation;

/// What the techniques of a plan found in a trace.
#[derive(Debug)]
pub struct Analysis {
    /// What was run.
    pub choice: Choice,
    /// What was looked at.
    pub trace: TraceInfo,
    /// How many events a schedule may rearrange in one piece, if not all.
    pub window: Option<usize>,
    /// The races.
    pub races: Vec<Found>,
    /// Pairs that are not decided, or were reported but not proven.
    pub undecided: Vec<Candidate>,
    /// The deadlocks.
    pub deadlocks: Vec<FoundDeadlock>,
    /// How many other circles of waiting threads there might have been.
    pub circles: GoalCounts,
    /// What threads must not come to.
    pub violations: Vec<FoundViolation>,
    /// How many more of that there might have been.
    pub violation_counts: GoalCounts,
    /// What was found in shards, where the trace does not fit into memory. It is a part of the report.
    pub in_shards: Option<InShards>,
    /// How many other pairs there are, and what is known of them.
    pub counts: Counts,
    /// For what reasons, and how often each, something that depends on reads was not computed, so that it had to stay
    /// what it was. Empty if nothing was to be computed.
    pub not_computed: BTreeMap<String, u64>,
    /// What else keeps the answer from being complete.
    pub notes: Vec<Note>,
    /// The user stopped the analysis: what is not listed is not known.
    pub interrupted: bool,
    /// How long it took, reading included.
    pub elapsed: Duration,
}

/// What was found in the shards of a trace.
#[derive(Clone, Debug)]
pub struct InShards {
    /// By shard.
    pub(crate) results: Vec<ShardResult>,
    /// Locations with accesses that may race and lie in no common shard.
    pub(crate) apart: ApartPairs,
    /// Whether there is one race for each pair of locations.
    pub(crate) by_location: bool,
    /// How many steps of witnesses there is room for.
    pub(crate) witness_steps: usize,
}

/// A race that the referee has accepted.
#[derive(Clone, Debug)]
pub struct Found {
    /// The referee's word. Its schedule is empty if the schedules of all races together are too long to be kept.
    pub finding: Finding,
    /// How many events the schedule has, where there is one.
    pub witness_length: Option<usize>,
    /// The two accesses as people know them. They are looked up at once, as a trace that is streamed is not kept.
    pub accesses: [RacingAccess; 2],
    /// What events of the schedule read and write, as far as that is something else than in the recorded run.
    pub values: Vec<NewValues>,
    /// The untaken branch that the race lies on, if it is not on the path of the recorded run: its events are those of
    /// that branch's trace.
    pub branch: Option<Arc<Detour>>,
}

/// A pair that is not proven.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The events.
    pub pair: Pair,
    /// The two accesses as people know them.
    pub accesses: [RacingAccess; 2],
    /// Why it is not proven.
    pub reason: Reason,
    /// How many more pairs of the same two locations are not decided either.
    pub more: u64,
    /// The pair lies on an untaken branch: its events are not those of the recorded run.
    pub is_untaken: bool,
}

/// Why a pair is not proven.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A limit was reached.
    Limit(Limit),
    /// The technique has no proofs.
    NoProofs(Technique),
    /// The technique has no schedule for it.
    NoSchedule,
    /// The referee does not believe what a detector reported.
    Rejected(Rejection),
    /// The referee rejects the schedule of a technique that decides pairs: a fault of the technique.
    ScheduleRejected(Rejection),
    /// The two locations have more pairs than are tried.
    NotTried,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Limit(limit) => limit.fmt(f),
            Reason::NoProofs(technique) => write!(f, "{} does not prove what it reports", technique.name()),
            Reason::NoSchedule => f.write_str("no schedule was found"),
            Reason::Rejected(rejection) => rejection.fmt(f),
            Reason::ScheduleRejected(rejection) => {
                write!(f, "the referee rejects the schedule: {rejection}")
            }
            Reason::NotTried => f.write_str(
                "these locations have more pairs than are tried; this one and those farther apart were not",
            ),
        }
    }
}

/// How many pairs are neither races nor listed as undecided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Pairs that are no race.
    pub refuted: u64,
    /// Races that are proven, but not listed, since everything was to stop.
    pub proven_not_listed: usize,
    /// Pairs that have no race within one window.
    pub not_in_window: u64,
    /// Pairs that were not looked at, or that the result has no room for, as far as they were counted.
    pub not_examined: u64,
    /// Pairs that are undecided, but not listed.
    pub not_listed: u64,
    /// Pairs of `auto` that have no race with the values of the recorded run, where there was no time to look at
    /// others.
    pub not_recomputed: u64,
    /// Accesses that were dropped from bounded histories although they might still have raced.
    pub forgotten_accesses: u64,
}

/// What else keeps an answer from being complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The time limit was reached.
    TimeLimit(Duration),
    /// The time limit was reached while untaken branches were followed.
    UntakenBranches(Duration),
    /// The memory did not suffice.
    Memory {
        /// How many bytes there were.
        bytes: u64,
        /// Whether the user has set the limit.
        is_set: bool,
    },
    /// The trace was not read to its end.
    Unread(Unread),
    /// The technique needs the whole trace in memory, where there is room for so many events.
    NoRoom(Technique, usize),
    /// The trace does not fit into memory, and not all of its shards were decided.
    Shards {
        /// How many were.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// There were more pairs than can be gone through: so many were only counted.
    TooManyPairs(u64),
    /// The search for deadlocks needs the whole trace in memory, where there is room for so many events.
    NoRoomForDeadlocks(usize),
    /// There were more circles of waiting threads than can be gone through.
    TooManyCircles,
    /// Possible deadlocks are not decided, for this reason.
    OpenDeadlocks(Reason),
    /// The search for violations needs the whole trace in memory, where there is room for so many events.
    NoRoomForViolations(usize),
    /// There were more uses of freed memory than can be gone through.
    TooManyViolations,
    /// Possible violations are not decided, for this reason.
    OpenViolations(Reason),
    /// There are more races than the result may hold, which is this number.
    MaxRaces(usize),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::TimeLimit(time) => {
                write!(f, "the time limit of {} was reached; --time-limit gives more", time_text(*time))
            }
            Note::UntakenBranches(time) => write!(
                f,
                "not all untaken branches were analysed within {}; raise --time-limit",
                time_text(*time)
            ),
            Note::Memory { bytes, is_set: true } => write!(
                f,
                "the memory limit of {} was reached; --memory gives more where the system has it",
                size_text(*bytes)
            ),
            Note::Memory { bytes, is_set: false } => {
                write!(f, "the {} of memory that the system has to give did not suffice", size_text(*bytes))
            }
            Note::Unread(unread) => write!(f, "the trace was not read to its end: {unread}"),
            Note::NoRoom(technique, room) => write!(
                f,
                "{} needs the whole trace in memory, which has room for {room} events; raise --memory",
                technique.name()
            ),
            Note::NoRoomForDeadlocks(room) => write!(
                f,
                "deadlocks need the whole trace in memory, which has room for {room} events; raise --memory"
            ),
            Note::NoRoomForViolations(room) => write!(
                f,
                "uses of freed memory need the whole trace in memory, which has room for {room} events; raise --memory"
            ),
            Note::TooManyViolations => {
                f.write_str("too many places where memory is used and freed: not all were looked at")
            }
            Note::OpenViolations(reason) => {
                write!(f, "not all possible uses of freed memory are decided: {reason}")
            }
            Note::TooManyCircles => f.write_str(
                "too many ways in which threads might wait for each other: not all were looked at",
            ),
            Note::OpenDeadlocks(reason) => write!(f, "not all possible deadlocks are decided: {reason}"),
            Note::Shards { done, of } => {
                write!(
                    f,
                    "the trace does not fit into memory, and only {done} of its {of} shards were decided"
                )
            }
            Note::TooManyPairs(pairs) => {
                write!(f, "too many pairs to go through: {pairs} were only counted")
            }
            Note::MaxRaces(number) => {
                write!(f, "the report is limited to {number} pairs; raise --max-races for more")
            }
        }
    }
}

/// A time as it is written on the command line.
pub fn time_text(time: Duration) -> String {
    match time.as_secs() {
        seconds if time.subsec_nanos() == 0 && seconds > 0 && seconds.is_multiple_of(60) => {
            format!("{}m", seconds / 60)
        }
        _ => format!("{}s", time.as_secs_f64()),
    }
}

/// A number of bytes as it is written on the command line.
pub fn size_text(bytes: u64) -> String {
    let units = [(1_u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    match units.into_iter().find(|&(unit, _)| bytes.is_multiple_of(unit) && bytes > 0) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None if bytes >= 1 << 20 => format!("{}M", bytes >> 20),
        None => format!("{bytes} bytes"),
    }
}

impl Found {
    /// The race that the finding is about; `event` looks up its events.
    pub(crate) fn new(finding: Finding, names: &Names, event: impl Fn(EventId) -> Event) -> Found {
        let accesses = [finding.first(), finding.second()].map(|id| RacingAccess::new(id, event(id), names));
        let witness_length = match finding.proof() {
            Proof::Adjacent { schedule, .. } => Some(schedule.len()),
            Proof::Unordered => None,
        };
        Found { finding, witness_length, accesses, values: Vec::new(), branch: None }
    }

    /// The two events.
    pub fn pair(&self) -> Pair {
        Pair { first: self.finding.first(), second: self.finding.second() }
    }

    /// The events of the witness in their new order, the racing two last; none if the proof is that nothing orders the
    /// two, or if the witness was not kept.
    pub fn witness(&self) -> Option<&[EventId]> {
        match self.finding.proof() {
            Proof::Adjacent { schedule, .. } if !schedule.is_empty() => Some(schedule),
            Proof::Adjacent { .. } | Proof::Unordered => None,
        }
    }

    /// How far the witness may deviate from the recorded run; none if the proof is that nothing orders the two.
    pub fn model(&self) -> Option<Model> {
        match self.finding.proof() {
            Proof::Adjacent { model, .. } => Some(*model),
            Proof::Unordered => None,
        }
    }

    /// The same if its witness has no more than `steps` events, otherwise without it.
    pub(crate) fn within(mut self, steps: usize) -> Found {
        if self.witness_length.is_some_and(|length| length > steps) {
            self.finding = self.finding.without_schedule();
        }
        self
    }

    pub(crate) fn identity(&self, wanted: Pairs) -> Identity {
        Identity::new(self.pair(), &self.accesses, wanted)
    }
}

impl Candidate {
    pub(crate) fn new(
        pair: Pair,
        reason: Reason,
        names: &Names,
        event: impl Fn(EventId) -> Event,
    ) -> Candidate {
        let accesses = [pair.first, pair.second].map(|id| RacingAccess::new(id, event(id), names));
        Candidate { pair, accesses, reason, more: 0, is_untaken: false }
    }

    pub(crate) fn identity(&self, wanted: Pairs) -> Identity {
        Identity::new(self.pair, &self.accesses, wanted)
    }
}

/// What makes a pair the same as another one.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// The same events.
    Events(Pair),
    /// The same locations, the smaller one first.
    Locations(Box<str>, Box<str>),
}

impl Identity {
    fn new(pair: Pair, [first, second]: &[RacingAccess; 2], wanted: Pairs) -> Identity {
        match wanted {
            Pairs::All => Identity::Events(pair),
            Pairs::ByLocation => {
                let (a, b) = (first.location.as_str(), second.location.as_str());
                Identity::Locations(a.min(b).into(), a.max(b).into())
            }
        }
    }
}

/// How many steps of witnesses are still kept. What is not printed is not kept either: all witnesses of a long trace
/// together would be many times its size.
pub(crate) struct Room {
    /// How many steps there is room for.
    pub(crate) left: usize,
}

impl Room {
    /// Takes away the witness if it is too long.
    pub(crate) fn limit(&mut self, found: Found) -> Found {
        let found = found.within(self.left);
        self.left -= found.witness().map_or(0, <[EventId]>::len);
        found
    }

    /// The same for a deadlock.
    pub(crate) fn limit_deadlock(&mut self, found: FoundDeadlock) -> FoundDeadlock {
        let found = found.within(self.left);
        self.left -= found.finding.schedule().len();
        found
    }

    /// The same for a violation.
    pub(crate) fn limit_violation(&mut self, found: FoundViolation) -> FoundViolation {
        let found = found.within(self.left);
        self.left -= found.finding.schedule().len();
        found
    }
}

/// What one stage says: reported pairs with the referee's word on each, and counts of the others.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) races: Vec<Found>,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) counts: Counts,
    /// Which work has pairs that have no race within a window, and how many.
    pub(crate) not_in_window: Vec<(Key, u64)>,
    /// There are more pairs to report than the result may hold.
    pub(crate) is_over_full: bool,
    pub(crate) notes: Vec<Note>,
}

impl Judged {
    /// So many pairs were not looked at.
    pub(crate) fn of_nothing(pairs: usize) -> Judged {
        let counts = Counts { not_examined: pairs as u64, ..Counts::default() };
        Judged { counts, ..Judged::default() }
    }

    /// How many pairs are left open.
    pub(crate) fn open(&self) -> u64 {
        let Counts { not_listed, not_examined, not_in_window, .. } = self.counts;
        let listed: u64 = self.candidates.iter().map(|open| 1 + open.more).sum();
        listed + not_listed + not_examined + not_in_window
    }

    /// There were more pairs than can be gone through.
    pub(crate) fn note_too_many(&mut self, pairs: u64) {
        if pairs > 0 {
            self.notes.push(Note::TooManyPairs(pairs));
            self.counts.not_examined += pairs;
        }
    }
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.refuted += other.refuted;
        self.proven_not_listed += other.proven_not_listed;
        self.not_in_window += other.not_in_window;
        self.not_examined += other.not_examined;
        self.not_listed += other.not_listed;
        self.not_recomputed += other.not_recomputed;
        self.forgotten_accesses += other.forgotten_accesses;
    }
}

impl Analysis {
    /// An analysis that has found nothing yet.
    pub(crate) fn new(choice: Choice) -> Analysis {
        Analysis {
            choice,
            trace: TraceInfo::default(),
            window: None,
            races: Vec::new(),
            undecided: Vec::new(),
            deadlocks: Vec::new(),
            circles: GoalCounts::default(),
            violations: Vec::new(),
            violation_counts: GoalCounts::default(),
            in_shards: None,
            counts: Counts::default(),
            not_computed: BTreeMap::new(),
            notes: Vec::new(),
            interrupted: false,
            elapsed: Duration::ZERO,
        }
    }

    /// Says what a stage has looked at. How much of it could be reordered is counted once for all stages.
    pub(crate) fn looked_at(&mut self, trace: TraceInfo) {
        let counted = self.trace.coverage.take().filter(|_| self.trace.events == trace.events);
        self.trace = TraceInfo { coverage: trace.coverage.or(counted), ..trace };
    }

    /// Adds what a stage has found to what earlier ones have; a proven pair is no candidate any more, and of two words
    /// on one candidate the later one counts. What there is no room for is only counted.
    pub(crate) fn add(&mut self, judged: Judged, plan: &Plan) {
        let wanted = plan.pairs;
        let mut known: HashSet<_> = self.races.iter().map(|race| race.identity(wanted)).collect();
        let new: Vec<Found> =
            judged.races.into_iter().filter(|race| known.insert(race.identity(wanted))).collect();
        let left_out = self.add_races(new, plan);
        let again: HashSet<_> = judged.candidates.iter().map(|open| open.identity(wanted)).collect();
        self.undecided.retain(|open| !again.contains(&open.identity(wanted)));
        self.undecided.extend(judged.candidates);
        self.undecided.retain(|open| !known.contains(&open.identity(wanted)));
        self.finish(judged.counts, judged.notes, judged.is_over_full || left_out, plan);
    }

    /// Adds what was found on an untaken branch, whose events are not those of the recorded run.
    pub(crate) fn add_untaken(&mut self, judged: Judged, plan: &Plan) {
        let left_out = self.add_races(judged.races, plan);
        self.undecided.extend(judged.candidates);
        self.finish(judged.counts, judged.notes, judged.is_over_full || left_out, plan);
    }

    /// Adds races as long as there is room; says whether some were left out.
    fn add_races(&mut self, mut races: Vec<Found>, plan: &Plan) -> bool {
        let left_out = races.len().saturating_sub(plan.max_races.saturating_sub(self.races.len()));
        races.truncate(races.len() - left_out);
        self.races.extend(races);
        self.counts.not_examined += left_out as u64;
        left_out > 0
    }

    fn finish(&mut self, counts: Counts, notes: Vec<Note>, is_over_full: bool, plan: &Plan) {
        self.counts.not_listed += self.undecided.len().saturating_sub(plan.max_races) as u64;
        self.undecided.truncate(plan.max_races);
        self.notes.extend(notes);
        self.counts.add(counts);
        if is_over_full {
            self.note_max_races(plan);
        }
    }

    /// Says, once, that the result is full.
    pub(crate) fn note_max_races(&mut self, plan: &Plan) {
        let note = Note::MaxRaces(plan.max_races);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_written_as_they_are_given() {
        let text = |seconds| time_text(Duration::from_secs_f64(seconds));
        assert_eq!([text(600.0), text(90.0), text(0.5), text(0.0)], ["10m", "90s", "0.5s", "0s"]);
        assert_eq!(
            [size_text(8 << 30), size_text(1536 << 10), size_text(1000)],
            ["8G", "1536K", "1000 bytes"]
        );
    }
}
