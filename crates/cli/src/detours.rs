//! Races on ways that a recorded run did not go, for `recipe` where the program is there to tell what lies on them.
//!
//! Each such way is a trace of its own, so what is found there is decided, refereed, driven and described on that trace.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foretell_cimp::machine::Bounds;
use foretell_cimp::record::detours::{Limits, detours};
use foretell_cimp::record::{Run, confirm};
use foretell_depend::Detour;
use foretell_detect::Pair;
use foretell_native::{DetourLimits, Follow};
use foretell_predict::{Budget, Predictor, Technique, Verdict, Witness};
use foretell_report::{Confirmation, NOT_EXECUTED, Race, Report, TraceInfo};
use foretell_trace::{EventId, Loc, Trace, TraceError};
use foretell_witness::Referee;
use foretell_z3::Pool;

use crate::analysis::exact::referee_race;
use crate::analysis::held::Held;
use crate::analysis::{Plan, candidate, time_for_more, time_text};
use crate::args::{Choice, WantedArgs};
use crate::describe::describe;
use crate::error::Failure;
use crate::input::Input;
use crate::memory;
use crate::native::mapped::Mapped;
use crate::program::Source;
use crate::stop::{self, TimeLimit};

/// So many pairs of the same two places are tried on one way.
const TRIES: usize = 4;

/// A recorded run of a program in CIMP.
pub(crate) struct Recorded<'a> {
    pub(crate) source: &'a Source,
    pub(crate) run: &'a Run,
    /// The limits that the run had.
    pub(crate) bounds: Bounds,
    pub(crate) input: &'a Input,
}

/// Adds to the report the races that lie on ways which the run did not go, each driven on the machine.
pub(crate) fn add(
    recorded: &Recorded<'_>,
    (plan, limit): (&Plan, &TimeLimit),
    wanted: &WantedArgs,
    report: &mut Report,
) -> Result<(), Failure> {
    if !is_wanted(plan) || recorded.run.trace.values().is_none() {
        return Ok(());
    }
    let limits = Limits { bounds: recorded.bounds, ..Limits::default() };
    let program = &recorded.source.program;
    let drive = |trace: &Trace, schedule: &[EventId]| drive(recorded, trace, schedule);
    let found =
        |_: &dyn Fn() -> bool| detours(program, recorded.run, limits).map_err(Failure::Usage).map(Some);
    Beside { input: recorded.input, plan, limit, wanted, drive: Some(&drive) }.add(found, report)
}

/// The same for a native program, by the log of what it did. Nobody has driven it into the races.
pub(crate) fn add_native(
    log: &Path,
    input: &Input,
    (plan, limit): (&Plan, &TimeLimit),
    wanted: &WantedArgs,
    report: &mut Report,
) -> Result<(), Failure> {
    // Who keeps recordings for later has no log any more.
    if !is_wanted(plan) || wanted.follow() != Follow::Values || !log.exists() {
        return Ok(());
    }
    let found = |go_on: &dyn Fn() -> bool| {
        let bytes = Mapped::open(log).map_err(|error| Failure::file(log, "read", error))?;
        let go_on = || {
            bytes.pass_by();
            !memory::is_taken(2) && go_on()
        };
        foretell_native::detours(&bytes, &DetourLimits::default(), &go_on)
            .map_err(|error| Failure::Usage(format!("the recording of {}: {error}", input.name())))
    };
    Beside { input, plan, limit, wanted, drive: None }.add(found, report)
}

/// Whether anybody asks for races on other ways.
fn is_wanted(plan: &Plan) -> bool {
    plan.unexplored && plan.choice.stages().contains(&Technique::Recipe)
}

/// Drives a program into a race. If it went another way, that would be a false race.
fn drive(recorded: &Recorded<'_>, trace: &Trace, schedule: &[EventId]) -> Result<(), Failure> {
    confirm(&recorded.source.program, trace, schedule).map_err(|problem| {
        Failure::Usage(format!(
            "a race was predicted that the program does not follow, a bug of foretell: {problem}"
        ))
    })
}

/// Drives a program along a schedule of a trace.
type Driver<'a> = &'a dyn Fn(&Trace, &[EventId]) -> Result<(), Failure>;

/// How races beside a run are looked for.
struct Beside<'a> {
    input: &'a Input,
    plan: &'a Plan,
    /// The time for all of it, which has begun.
    limit: &'a TimeLimit,
    wanted: &'a WantedArgs,
    /// Drives the program into a race, if that can be done at once.
    drive: Option<Driver<'a>>,
}

impl Beside<'_> {
    /// Adds to the report what lies on the detours that are found; none are if there is no time for that.
    fn add<D: Iterator<Item = Result<Detour, TraceError>>>(
        &self,
        found: impl FnOnce(&dyn Fn() -> bool) -> Result<Option<D>, Failure>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let (plan, until) = &within_reason(self.plan, report);
        let was_over = self.limit.is_over();
        let is_late = || until.is_some_and(|until| Instant::now() >= until);
        let known = report.races.iter().map(places).collect();
        let mut search = Search { beside: self, plan, known, report };
        let detours = found(&|| !stop::is_requested() && !is_late())?;
        search.report.stats.not_recomputed += u64::from(detours.is_none() && is_late());
        for detour in detours.into_iter().flatten() {
            let detour = detour.map_err(|error| Failure::Trace { file: self.input.name(), error })?;
            if is_late() {
                search.report.stats.not_recomputed += 1;
                break;
            }
            if stop::is_requested() || search.report.races.len() >= plan.max_races {
                break;
            }
            search.look(&detour)?;
        }
        if let Some(time) = self.limit.reached().filter(|_| !was_over) {
            let time = time_text(time);
            report.notes.push(format!(
                "not all ways that the run did not go were looked at within {time}; --time-limit gives more"
            ));
        }
        report.stats.candidates = report.races.len() + report.undecided.len();
        report.complete = report.complete && !report.is_open();
        Ok(())
    }
}

/// As the last part of `auto`, this is not to take much longer than all before it.
fn within_reason(plan: &Plan, report: &Report) -> (Plan, Option<Instant>) {
    if plan.choice != Choice::Auto {
        return (*plan, None);
    }
    let (time, budget) = time_for_more(plan, Duration::from_secs_f64(report.stats.seconds.max(0.0)));
    (Plan { budget, ..*plan }, Instant::now().checked_add(time))
}

/// The two places of a race, the smaller one first.
type Places = (String, String);

fn places(race: &Race) -> Places {
    ordered(race.first.location.clone(), race.second.location.clone())
}

fn ordered(one: String, other: String) -> Places {
    if one <= other { (one, other) } else { (other, one) }
}

/// Looks at one detour after the other.
struct Search<'a> {
    beside: &'a Beside<'a>,
    plan: &'a Plan,
    /// Between which places races are known.
    known: HashSet<Places>,
    report: &'a mut Report,
}

impl Search<'_> {
    fn look(&mut self, detour: &Detour) -> Result<(), Failure> {
        let trace = &detour.trace;
        let Some(predictor) =
            Predictor::new(trace, Technique::Recipe, self.plan.window, Arc::new(Pool::default()))
        else {
            return Ok(());
        };
        let mut referee = Referee::new(trace);
        let mut tries: HashMap<(Loc, Loc), usize> = HashMap::new();
        let budget = Budget { per_pair: self.plan.budget, stop: stop::flag() };
        for pair in pairs(detour) {
            let [first, second] = [pair.first, pair.second].map(|id| trace.event(id).loc);
            let tried = tries.entry((first.min(second), first.max(second))).or_default();
            let text = |loc| trace.names().loc_text(loc).into_owned();
            if *tried >= TRIES || self.known.contains(&ordered(text(first), text(second))) {
                continue;
            }
            *tried += 1;
            match predictor.decide(pair, &budget) {
                Verdict::Race(witness) => self.enter(detour, &mut referee, pair, witness)?,
                Verdict::Undecided(_) if self.plan.choice == Choice::Auto => {
                    self.report.stats.not_recomputed += 1;
                    *tried = TRIES;
                }
                Verdict::Undecided(why) => {
                    let reason = format!("on a way {NOT_EXECUTED}: {why}");
                    let open = candidate(pair, reason, trace.names(), |id| trace.event(id));
                    self.report.undecided.push(open);
                    *tried = TRIES;
                }
                Verdict::NoRace(_) => self.report.stats.refuted += 1,
                Verdict::NotInWindow => self.report.stats.not_in_window += 1,
            }
        }
        Ok(())
    }

    /// Takes up a race, if the referee agrees.
    fn enter(
        &mut self,
        detour: &Detour,
        referee: &mut Referee<'_>,
        pair: Pair,
        witness: Witness,
    ) -> Result<(), Failure> {
        let trace = &detour.trace;
        let schedule = witness.schedule.clone();
        let mut race = match referee_race(referee, trace, pair, witness) {
            Ok(race) => race,
            Err(reason) => {
                self.report.undecided.push(candidate(pair, reason, trace.names(), |id| trace.event(id)));
                return Ok(());
            }
        };
        if let Some(drive) = self.beside.drive {
            drive(trace, &schedule)?;
            race.confirmation = Some(Confirmation::of_machine());
        }
        race.path = Some(NOT_EXECUTED.to_string());
        let race = self.described(trace, race)?;
        self.known.insert(places(&race));
        self.report.driven = self.report.driven.map(|driven| driven + 1);
        self.report.races.push(race);
        Ok(())
    }

    /// The race with all that is around it on its way.
    fn described(&self, trace: &Trace, race: Race) -> Result<Race, Failure> {
        let held = Held::new(self.beside.input, Some(trace));
        let mut alone = Report::new(self.plan.choice.name());
        alone.trace = TraceInfo::of(trace, &self.beside.input.name());
        alone.races.push(race.clone());
        describe(&held, &mut alone, self.beside.wanted)?;
        let mut described = alone.races.pop().unwrap_or(race);
        // What the recorded run did, it did on another way.
        (described.observed, described.reads) = (None, None);
        Ok(described)
    }
}

/// What may race with an access of the detour: the conflicting accesses of other threads, the nearest first.
fn pairs(detour: &Detour) -> Vec<Pair> {
    let trace = &detour.trace;
    let mut pairs = Vec::new();
    for &added in &detour.added {
        let Some(access) = trace.event(added).op.access() else { continue };
        let others = trace.iter().filter(|(_, event)| {
            event.thread != trace.event(added).thread
                && event.op.access().is_some_and(|other| other.conflicts_with(access))
        });
        pairs.extend(others.map(|(other, _)| Pair { first: added.min(other), second: added.max(other) }));
    }
    pairs.sort_by_key(|pair| (pair.second.index() - pair.first.index(), pair.first));
    pairs
}
