//! The exploration of one trace: closure, referee, report.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use foretell_engine::analysis::time_text;
use foretell_explore::{
    Closure, Count, Exploration, Limits, Progress, RacingPair, Schedule, Totals, happens_before,
};
use foretell_report::{
    Amount, ClosureReport, ClosureStats, ExploredRace, PropertyReport, PropertyVerdict, Race, TraceInfo,
};
use foretell_trace::{BarrierId, EventId, ThreadId, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::{Claim, Machine, Model, Proof, Referee};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::property::{Doubt, Wanted};
use crate::args::{ExploreArgs, jobs};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::memory;
use crate::stop::{self, TimeLimit};

/// How much memory states may take where the system does not tell how much it has.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// Explores the closure of the trace.
pub(super) fn explore(
    input: &TraceFile,
    trace: &Trace,
    wanted: &[Wanted],
    args: &ExploreArgs,
) -> Result<ClosureReport, Failure> {
    let begin = Instant::now();
    memory::reset_peak();
    let doubts: Vec<Doubt> = wanted.iter().map(|_| Doubt::default()).collect();
    let mut properties = Vec::new();
    for (wanted, doubt) in wanted.iter().zip(&doubts) {
        let bound = wanted.bind(trace, Doubt::clone(doubt));
        properties.push(bound.map_err(|why| Failure::Usage(format!("{}: {wanted}: {why}", input.name())))?);
    }
    let too_large = || Failure::Environment(format!("{} is too large to be explored", input.name()));
    let closure = Closure::new(trace, properties).ok_or_else(too_large)?;
    let work = Work { input, args, pool: pool(args)? };
    let mut report = empty(trace, &input.name());
    // Races matter most, so there must be time for these; what is left is for the comparison.
    let limit = args.time_limit.0.map(|limit| limit.mul_f64(0.75));
    let explored = work.run("explores", limit, |limits, progress| Some(closure.explore(limits, progress)));
    let explored = explored?.ok_or_else(too_large)?;
    note_barriers(&mut report, trace, closure.barriers_as_recorded());
    enter(&mut report, trace, &wanted.iter().zip(&doubts).collect::<Vec<_>>(), args, explored);
    if !args.races_only {
        let left = args.time_limit.0.map(|limit| limit.saturating_sub(begin.elapsed()));
        let order =
            work.run("counts reorderings", left, |limits, progress| happens_before(trace, limits, progress));
        let order = order?.ok_or_else(too_large)?;
        report.happens_before = Some(amount(order.proper, &order));
        report.stats.happens_before_steps = order.steps;
    }
    report.interrupted = stop::is_interrupted();
    report.complete = !report.is_open() && !report.trace.cut_short;
    report.stats.seconds = begin.elapsed().as_secs_f64();
    report.stats.peak_memory_bytes = memory::peak();
    Ok(report)
}

fn pool(args: &ExploreArgs) -> Result<ThreadPool, Failure> {
    let jobs = jobs(args.jobs);
    let pool = ThreadPoolBuilder::new().num_threads(jobs).build();
    pool.map_err(|error| Failure::Environment(format!("cannot start {jobs} jobs: {error}")))
}

/// What all explorations of one trace have in common.
struct Work<'a> {
    input: &'a TraceFile,
    args: &'a ExploreArgs,
    pool: ThreadPool,
}

impl Work<'_> {
    /// Does the work on all workers, within the limits, and shows how far it is.
    fn run<T: Send>(
        &self,
        doing: &str,
        time: Option<Duration>,
        work: impl Fn(Limits<'_>, &Progress) -> T + Sync,
    ) -> Result<T, Failure> {
        let _limit = TimeLimit::start(time)?;
        let memory = self.args.memory.or_else(|| memory::available().map(|bytes| bytes / 4));
        let limits = Limits {
            memory: memory.unwrap_or(DEFAULT_MEMORY),
            max_steps: self.args.max_steps,
            stop: stop::flag(),
        };
        let (progress, bar) = (&Progress::default(), &self.input.step_progress(doing));
        let (done, is_done) = mpsc::channel::<()>();
        Ok(thread::scope(|scope| {
            if !bar.is_hidden() {
                scope.spawn(move || {
                    while is_done.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                        bar.stepped(progress.steps(), progress.explored());
                    }
                });
            }
            let result = self.pool.install(|| work(limits, progress));
            drop(done);
            result
        }))
    }
}

/// A report that says nothing yet.
fn empty(trace: &Trace, name: &str) -> ClosureReport {
    ClosureReport {
        tool: "foretell",
        trace: TraceInfo::of(trace, name),
        shared_variables: shared_variables(trace),
        happens_before: None,
        maximal: None,
        feasible: None,
        complete: false,
        interrupted: false,
        explored: 0.0,
        notes: Vec::new(),
        races: Vec::new(),
        properties: Vec::new(),
        stats: ClosureStats::default(),
    }
}

/// How many variables are accessed by more than one thread.
fn shared_variables(trace: &Trace) -> usize {
    let mut first: Vec<Option<ThreadId>> = vec![None; trace.names().vars.len()];
    let mut is_shared = vec![false; first.len()];
    for event in trace.events() {
        if let Some(access) = event.op.access() {
            let var = access.var.index();
            is_shared[var] |= *first[var].get_or_insert(event.thread) != event.thread;
        }
    }
    is_shared.into_iter().filter(|&is_shared| is_shared).count()
}

fn amount(count: Count, totals: &Totals) -> Amount {
    Amount { count: count.get().unwrap_or(u128::MAX), exact: totals.complete && count.get().is_some() }
}

/// Enters what was found, as far as the referee agrees.
fn enter(
    report: &mut ClosureReport,
    trace: &Trace,
    wanted: &[(&Wanted, &Doubt)],
    args: &ExploreArgs,
    found: Exploration,
) {
    let totals = found.totals;
    report.explored = totals.explored;
    report.stats.steps = totals.steps;
    if !args.races_only {
        report.maximal = Some(amount(totals.proper, &totals));
        report.feasible = Some(amount(totals.feasible, &totals));
    }
    let are_known = report.notes.is_empty();
    note_limits(report, args, &totals);
    let mut referee = Referee::new(trace);
    for race in found.races {
        match check(&mut referee, trace, race) {
            Ok(race) => report.races.push(race),
            Err(rejection) => report.notes.push(rejection),
        }
    }
    if found.are_more_races {
        report.notes.push(format!("there are more races than the {} that fit", report.races.len()));
    }
    for (&(wanted, doubt), violation) in wanted.iter().zip(found.violations) {
        let is_sure = are_known && totals.complete && !doubt.load(Ordering::Relaxed);
        let property = judge(trace, wanted, violation, is_sure).unwrap_or_else(|rejection| {
            report.notes.push(rejection);
            PropertyReport {
                property: wanted.to_string(),
                verdict: PropertyVerdict::Unknown,
                schedule: None,
                strays: Vec::new(),
            }
        });
        report.properties.push(property);
    }
}

/// Where the number of threads of a barrier is unknown, there may be unexplored runs.
fn note_barriers(report: &mut ClosureReport, trace: &Trace, as_recorded: &[BarrierId]) {
    report.notes.extend(as_recorded.iter().map(|&barrier| {
        let name = trace.names().barriers.name(barrier);
        format!("not always as many threads cross the barrier {name} together, so those are taken to meet who met; others might")
    }));
}

fn note_limits(report: &mut ClosureReport, args: &ExploreArgs, totals: &Totals) {
    if totals.complete || stop::is_interrupted() {
        return;
    }
    match (args.max_steps, args.time_limit.0) {
        (Some(most), _) if totals.steps >= most => {
            report.notes.push(format!("the limit of {most} steps was reached; --max-steps gives more"));
        }
        (_, Some(time)) => {
            let time = time_text(time);
            report.notes.push(format!("the time limit of {time} was reached; --time-limit gives more"));
        }
        _ => {}
    }
}

/// Asks the referee. A schedule that he rejects is a fault of ours, and no race.
fn check(referee: &mut Referee<'_>, trace: &Trace, race: RacingPair) -> Result<ExploredRace, String> {
    let RacingPair { first, second, schedule } = race;
    let strays = deviations(&schedule);
    let mut events: Vec<EventId> = schedule.iter().map(|taken| taken.event).collect();
    events.extend([first, second]);
    let proof = Proof::Adjacent { model: Model::SameValue, schedule: events };
    match referee.check(Claim { first, second, proof }) {
        Ok(finding) => {
            Ok(ExploredRace { race: Race::new(&finding, trace.names(), |id| trace.event(id)), strays })
        }
        Err(rejection) => {
            Err(format!("the referee rejects the schedule of events {first} and {second}: {rejection}"))
        }
    }
}

/// The word on one property; a violation counts only if the referee's machine comes to the same state.
fn judge(
    trace: &Trace,
    wanted: &Wanted,
    violation: Option<Schedule>,
    is_sure: bool,
) -> Result<PropertyReport, String> {
    let property = wanted.to_string();
    let Some(schedule) = violation else {
        let verdict = if is_sure { PropertyVerdict::Holds } else { PropertyVerdict::Unknown };
        return Ok(PropertyReport { property, verdict, schedule: None, strays: Vec::new() });
    };
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::SameValue);
    for taken in &schedule {
        let thread = trace.event(taken.event).thread;
        if machine.next(thread) != Some(taken.event) || machine.step(thread).is_err() {
            return Err(format!("the referee rejects the schedule that violates {property}"));
        }
    }
    if !wanted.is_violated(trace, &machine) {
        return Err(format!("the referee does not see that {property} is violated"));
    }
    Ok(PropertyReport {
        property,
        verdict: PropertyVerdict::Violated,
        strays: deviations(&schedule),
        schedule: Some(schedule.iter().map(|taken| taken.event.number()).collect()),
    })
}

/// The events that read something else than observed.
fn deviations(schedule: &Schedule) -> Vec<u32> {
    schedule.iter().filter(|taken| taken.deviates).map(|taken| taken.event.number()).collect()
}
