//! Techniques on one trace: detect or decide, have the referee check, report.
//!
//! * [`stream`]: techniques that look at each event once
//! * [`exact`]: techniques that decide pairs one by one, with [`bucket`] for the work on the pairs of two locations and
//!   [`ledger`] for what is known across batches
//! * [`pair`]: one pair alone
//! * [`held`]: the trace in memory; [`left`]: whether there is anything left to find in it

mod bucket;
pub(crate) mod exact;
pub(crate) mod held;
mod ledger;
mod left;
pub(crate) mod pair;
mod stream;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use foretell_detect::{Pair, Pairs};
use foretell_predict::{Guarantee, Technique};
use foretell_report::{Access, Candidate, Coverage, Race, Report, TraceInfo};
use foretell_trace::{Event, EventId, Names};
use foretell_witness::Finding;

use self::exact::Exact;
use self::held::Held;
use self::stream::Stage;
use crate::Outcome;
use crate::args::Choice;
use crate::error::Failure;
use crate::memory;
use crate::stop::{self, TimeLimit};

/// The last stage of `auto` may take so many times as long as all before it,
const TIMES_LONGER: u32 = 4;
/// but at least this,
const LEAST_TIME: Duration = Duration::from_secs(1);
/// and has time for so many pairs that use up theirs.
const PAIRS_IN_TIME: u32 = 10;

/// What is to be done with a trace.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) choice: Choice,
    pub(crate) pairs: Pairs,
    /// How many steps of witnesses may be printed in all.
    pub(crate) witness_steps: usize,
    /// How many races, and how many undecided pairs, the report may hold.
    pub(crate) max_races: usize,
    /// How many events a schedule may rearrange in one piece, if not all.
    pub(crate) window: Option<usize>,
    /// How long one pair may take.
    pub(crate) budget: Duration,
    /// How long everything together may take, if there is a limit.
    pub(crate) time_limit: Option<Duration>,
    /// Whether ways are followed that the recorded run did not go, where the program is there to tell.
    pub(crate) unexplored: bool,
    /// How many pairs to work on at the same time.
    pub(crate) jobs: usize,
    /// How many bytes of memory may be used for deciding pairs, if not what the system has.
    pub(crate) memory: Option<u64>,
}

/// Runs the techniques of the plan within the time of the limit.
pub(crate) fn analyse(held: &Held<'_>, plan: &Plan, limit: &TimeLimit) -> Result<Report, Failure> {
    let begin = Instant::now();
    memory::reset_peak();
    let mut report = Report::new(plan.choice.name());
    let mut printing = Printing { left: plan.witness_steps };
    for technique in plan.choice.stages() {
        if stop::is_requested() && report.trace.events > 0 {
            break;
        }
        if report.races.len() >= plan.max_races {
            note_max_races(&mut report, plan);
            break;
        }
        if plan.pairs == Pairs::ByLocation
            && !report.races.is_empty()
            && !left::is_anything_left(held, &report)?
        {
            break;
        }
        if technique == Technique::Recipe && plan.choice == Choice::Auto {
            if held.get().is_some_and(|trace| trace.values().is_some()) {
                look_for_more(held, plan, begin.elapsed(), &mut printing, &mut report)?;
            }
            break;
        }
        if technique.decides_pairs() {
            report.window = plan.window;
            decide(held, technique, plan, &mut printing, &mut report)?;
        } else {
            detect(held, technique, plan, &mut printing, &mut report)?;
        }
    }
    if plan.choice.stages().contains(&Technique::Recipe) {
        tell_what_is_not_computed(held, &mut report);
    }
    if let Some(trace) = held.get() {
        report.trace.coverage = Some(Coverage::of(trace));
    }
    report.interrupted = stop::is_interrupted();
    note_limits(held, limit, &mut report);
    let not_listed = usize::try_from(report.stats.not_listed).unwrap_or(usize::MAX);
    report.stats.candidates = report.races.len() + report.undecided.len().saturating_add(not_listed);
    report.stats.witnesses_not_printed =
        report.races.iter().filter(|race| race.is_witness_left_out()).count();
    report.complete = !report.is_open() && !report.trace.cut_short;
    report.stats.seconds = begin.elapsed().as_secs_f64();
    report.stats.peak_memory_bytes = memory::peak();
    Ok(report)
}

/// Says which limits were reached, and how much of the trace was not read for that.
fn note_limits(held: &Held<'_>, limit: &TimeLimit, report: &mut Report) {
    if let Some(time) = limit.reached() {
        let time = time_text(time);
        report.notes.push(format!("the time limit of {time} was reached; --time-limit gives more"));
    }
    report.notes.extend(memory::note());
    // An earlier stage may have read all of it.
    let unread = held.input().unread().filter(|unread| unread.events == report.trace.events);
    report.notes.extend(unread.map(|unread| format!("the trace was not read to its end: {}", unread.text)));
}

/// What had to stay as it was, and why.
fn tell_what_is_not_computed(held: &Held<'_>, report: &mut Report) {
    let values = held.get().and_then(|trace| trace.values());
    let obstacles = values.into_iter().flat_map(|values| values.obstacles().iter());
    report.stats.not_computed =
        obstacles.map(|(obstacle, times)| (obstacle.name().to_string(), times)).collect();
}

/// A stage that looks at each event once.
fn detect(
    held: &Held<'_>,
    technique: Technique,
    plan: &Plan,
    printing: &mut Printing,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut stage = Stage { held, technique, plan, printing };
    let judged = stage.run(report)?;
    add(report, judged, plan);
    if technique.guarantee() == Guarantee::FirstReport {
        stage.find_better_pairs(report)?;
    }
    Ok(())
}

/// A stage that decides pairs one by one, if the trace fits into memory.
fn decide(
    held: &Held<'_>,
    technique: Technique,
    plan: &Plan,
    printing: &mut Printing,
    report: &mut Report,
) -> Result<(), Failure> {
    let input = held.input();
    match held.load_within(&format!("{} reads", technique.name()), plan.memory)? {
        // A trace that was not read to its end tells less than an earlier stage did.
        Ok(_) if stop::is_requested() && report.trace.events > 0 => {}
        Ok(trace) => {
            report.trace = TraceInfo::of(trace, &input.name());
            if stop::is_requested() {
                return Ok(());
            }
            let exact = Exact::new(trace, technique, plan)?;
            let progress = input.work_progress(&format!("{} decides", technique.name()));
            let judged = exact.run(report, printing, &progress);
            add(report, judged, plan);
        }
        Err(room) => {
            if report.trace.events == 0 {
                report.trace = input.count("counts")?;
            }
            report.notes.push(format!(
                "{} needs the whole trace in memory, where there is room for {room} events; --memory tells of more",
                technique.name()
            ));
        }
    }
    Ok(())
}

/// The last stage of `auto`: races that need other values than the recorded ones. All pairs that are left have had an answer already, so this one may take so
/// much longer than everything before, but not more; what it leaves open is only counted.
fn look_for_more(
    held: &Held<'_>,
    plan: &Plan,
    so_far: Duration,
    printing: &mut Printing,
    report: &mut Report,
) -> Result<(), Failure> {
    let Some(trace) = held.get() else { return Ok(()) };
    let (time, budget) = time_for_more(plan, so_far);
    let plan = Plan { budget, ..*plan };
    let exact = Exact::new(trace, Technique::Recipe, &plan)?.until(Instant::now().checked_add(time));
    let progress = held.input().work_progress(&format!("{} decides", Technique::Recipe.name()));
    let judged = exact.run(report, printing, &progress);
    let open = judged.candidates.iter().map(|open| 1 + open.more).sum::<u64>();
    report.stats.not_recomputed += open + judged.not_listed + judged.not_examined + judged.not_in_window;
    add(report, Judged { races: judged.races, ..Judged::default() }, &plan);
    Ok(())
}

/// How long `auto` may look for more after it has taken so long for the rest, in all and for one pair.
pub(crate) fn time_for_more(plan: &Plan, so_far: Duration) -> (Duration, Duration) {
    let time = (so_far * TIMES_LONGER).max(LEAST_TIME);
    (time, plan.budget.min(time / PAIRS_IN_TIME))
}

/// What the report means for the exit code.
pub(crate) fn outcome(report: &Report) -> Outcome {
    if !report.races.is_empty() {
        Outcome::Race
    } else if report.trace.cut_short {
        Outcome::Incomplete
    } else if report.is_open() {
        Outcome::Undecided
    } else {
        Outcome::Clean
    }
}

/// How much of the witnesses is printed. What is not printed is not kept either: all witnesses of a long trace together
/// would be many times its size.
struct Printing {
    /// How many steps may still be printed.
    left: usize,
}

impl Printing {
    fn race(&mut self, finding: &Finding, names: &Names, event: impl Fn(EventId) -> Event) -> Race {
        self.limit(Race::new(finding, names, event))
    }

    /// Takes away the witness if it is too long.
    fn limit(&mut self, mut race: Race) -> Race {
        let length = race.witness_length.unwrap_or(0);
        match self.left.checked_sub(length) {
            Some(left) if race.witness.is_some() => self.left = left,
            _ => race.witness = None,
        }
        race
    }
}

/// Reported pairs with the referee's word on each, and what is said of the others.
#[derive(Default)]
struct Judged {
    races: Vec<Race>,
    candidates: Vec<Candidate>,
    refuted: u64,
    not_in_window: u64,
    not_examined: u64,
    not_listed: u64,
    /// There are more pairs to report than the report may hold.
    is_over_full: bool,
    notes: Vec<String>,
}

impl Judged {
    /// Nobody has looked at so many pairs.
    fn of_nothing(pairs: usize) -> Judged {
        Judged { not_examined: pairs as u64, ..Judged::default() }
    }

    /// There were more pairs than can be gone through.
    fn note_too_many(&mut self, pairs: u64) {
        if pairs > 0 {
            self.notes.push(format!("too many pairs to go through: {pairs} were only counted"));
            self.not_examined += pairs;
        }
    }
}

pub(crate) fn candidate(
    pair: Pair,
    reason: String,
    names: &Names,
    event: impl Fn(EventId) -> Event,
) -> Candidate {
    Candidate {
        first: Access::new(pair.first, event(pair.first), names),
        second: Access::new(pair.second, event(pair.second), names),
        reason,
        more: 0,
        fingerprint: None,
    }
}

/// Adds what a stage has found to what earlier ones have; a proven pair is no candidate any more, and of two words on
/// one candidate the later one counts. What the report has no room for is only counted.
fn add(report: &mut Report, judged: Judged, plan: &Plan) {
    let wanted = plan.pairs;
    let mut known: HashSet<_> =
        report.races.iter().map(|race| Same::new(&race.first, &race.second, wanted)).collect();
    let mut left_out = 0;
    for race in judged.races {
        if !known.insert(Same::new(&race.first, &race.second, wanted)) {
            continue;
        }
        if report.races.len() < plan.max_races {
            report.races.push(race);
        } else {
            left_out += 1;
        }
    }
    let same = |open: &Candidate| Same::new(&open.first, &open.second, wanted);
    let again: HashSet<_> = judged.candidates.iter().map(same).collect();
    report.undecided.retain(|open| !again.contains(&same(open)));
    report.undecided.extend(judged.candidates);
    report.undecided.retain(|open| !known.contains(&same(open)));
    let not_listed = report.undecided.len().saturating_sub(plan.max_races) as u64;
    report.undecided.truncate(plan.max_races);
    report.notes.extend(judged.notes);
    report.stats.refuted += judged.refuted;
    report.stats.not_in_window += judged.not_in_window;
    report.stats.not_examined += judged.not_examined + left_out;
    report.stats.not_listed += judged.not_listed + not_listed;
    if judged.is_over_full || left_out > 0 {
        note_max_races(report, plan);
    }
}

/// Says, once, that the report is full.
fn note_max_races(report: &mut Report, plan: &Plan) {
    let note = format!("the report ends at {} pairs; --max-races tells of more", plan.max_races);
    if !report.notes.contains(&note) {
        report.notes.push(note);
    }
}

/// A time as one would say it on the command line.
pub(crate) fn time_text(time: Duration) -> String {
    match time.as_secs() {
        seconds if time.subsec_nanos() == 0 && seconds > 0 && seconds.is_multiple_of(60) => {
            format!("{}m", seconds / 60)
        }
        _ => format!("{}s", time.as_secs_f64()),
    }
}

/// What makes a pair the same as another one.
#[derive(PartialEq, Eq, Hash)]
enum Same {
    /// The same events.
    Events(u32, u32),
    /// The same locations, the smaller one first.
    Locations(Box<str>, Box<str>),
}

impl Same {
    fn new(first: &Access, second: &Access, wanted: Pairs) -> Same {
        match wanted {
            Pairs::All => Same::Events(first.event, second.event),
            Pairs::ByLocation => {
                let (a, b) = (first.location.as_str(), second.location.as_str());
                Same::Locations(a.min(b).into(), a.max(b).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_they_are_given() {
        let text = |seconds| time_text(Duration::from_secs_f64(seconds));
        assert_eq!([text(600.0), text(90.0), text(0.5), text(0.0)], ["10m", "90s", "0.5s", "0s"]);
    }
}
