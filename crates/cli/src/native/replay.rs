//! Driving a native program into a race or a deadlock: it is run once more, and follows the schedule.

mod deadlock;

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use foretell_engine::Input;
use foretell_engine::analysis::time_text;
use foretell_engine::describe::describe_accesses;
use foretell_engine::witness_schedule::{descents, kind_of};
use foretell_report::confirmation::{why_no_schedule, why_no_schedule_of};
use foretell_report::{Confirmation, RacingAccess, Report};
use foretell_trace::{Event, EventId, Op, Trace};
use foretell_wire::schedule::{self, AccessDraft, EndingDraft, RacingAction, ReplayOutcome, ScheduleDraft};

use super::processes::end_left;
use super::record::{self, Ended, Folder, Hunting, Manner};
use super::watch::{self, EndedBy};
use crate::args::{InputArgs, LogArgs, LogPart, Order};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::sources::Sources;
use crate::stop::{TimeLimit, Watch};
use crate::{output, stop};

/// How long a program may take to get there by default.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);
/// An access that is part of an operation is found by trying; there are two of them.
const ATTEMPTS: usize = 3;
/// How often to look whether the threads are held.
const TICK: Duration = Duration::from_millis(50);

/// What the debugger does first.
const SCRIPT: &str = include_str!("race.gdb.py");

/// How a program is to be driven into a race or a deadlock.
#[derive(Clone, Copy)]
pub(crate) struct Drive<'a> {
    /// The file to run.
    pub(crate) program: &'a Path,
    /// What messages call the program.
    pub(crate) name: &'a Path,
    pub(crate) arguments: &'a [OsString],
    pub(crate) stop_after: Option<Duration>,
    /// How long all of it may take, if there is a limit.
    pub(crate) limit: Option<&'a TimeLimit>,
    /// It goes on after that.
    pub(crate) go_on: bool,
    /// A debugger is attached there.
    pub(crate) gdb: bool,
    /// What the program prints is of no interest.
    pub(crate) quietly: bool,
}

impl Drive<'_> {
    /// How long the program may run.
    fn longest(&self) -> Duration {
        let longest = self.stop_after.unwrap_or(LONGEST);
        self.limit.and_then(TimeLimit::left).map_or(longest, |left| left.min(longest))
    }

    /// Why the program is not driven any further, if that is so.
    fn why_stop(&self) -> Option<&'static str> {
        match self.limit {
            Some(limit) if limit.is_over() => {
                Some("there was no time for that: the time limit was reached; --time-limit gives more")
            }
            _ => (stop::is_requested() || stop::is_in_a_hurry()).then_some("interrupted"),
        }
    }
}

/// Drives the program to where this schedule leads. It is made better if it turns out where a thread has to be held.
pub(crate) fn drive(how: Drive<'_>, draft: &mut ScheduleDraft) -> Result<Confirmation, Failure> {
    Ok(drive_unless_stopped(how, draft)?.unwrap_or_else(Confirmation::not))
}

/// What came of driving, or why nothing did.
type Driven = Result<Confirmation, &'static str>;

fn drive_unless_stopped(how: Drive<'_>, draft: &mut ScheduleDraft) -> Result<Driven, Failure> {
    for _ in 0..ATTEMPTS {
        let folder = Folder::new()?;
        let ended = run(how, draft, &folder)?;
        let told = fs::read_to_string(folder.path().join(schedule::OUTCOME)).ok();
        match told.as_deref().and_then(ReplayOutcome::parse) {
            Some(ReplayOutcome::Raced | ReplayOutcome::Stuck | ReplayOutcome::Used) => {
                return Ok(Ok(confirm(how, draft, &folder)?));
            }
            Some(ReplayOutcome::Diverged(thread, why)) => {
                let trace = record::driven(&folder)?;
                return Ok(Ok(Confirmation::not(diverged(trace.as_ref(), &thread, &why))));
            }
            _ if ended.by == EndedBy::User => return Ok(Err("interrupted on the way there")),
            told => {
                if let Some(why) = how.why_stop() {
                    return Ok(Err(why));
                }
                let (Some(ReplayOutcome::Passed(which, held)), EndingDraft::Race(accesses)) =
                    (told, &mut draft.ending)
                else {
                    return Ok(Ok(Confirmation::not(silent(&folder, ended))));
                };
                accesses[which].1 = held;
            }
        }
    }
    let why = "an access is part of an operation at which the thread cannot be held";
    Ok(Ok(Confirmation::not(why)))
}

/// How long the log of a program may become that is driven, as usual.
const USUAL_LOG: LogArgs = LogArgs { log_limit: 2 << 30, log_keep: LogPart::First };

fn run(how: Drive<'_>, draft: &ScheduleDraft, folder: &Folder) -> Result<Ended, Failure> {
    leave(folder, schedule::FILE, &draft.to_string())?;
    if how.go_on {
        leave(folder, schedule::GO_ON, "")?;
    }
    if how.gdb {
        leave(folder, schedule::HOLD, "")?;
    }
    let (name, seed, stop_after) = (how.name, draft.seed, how.stop_after);
    let (log, hunting) = (USUAL_LOG, Hunting::default());
    let manner = Manner { name, seed, order: Order::Serial, stop_after, log, hunting };
    let mut command = record::command(how.program, manner, folder);
    command.args(how.arguments);
    if how.quietly {
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    }
    let cannot =
        |what: &str, error| Failure::Environment(format!("cannot {what} {}: {error}", how.name.display()));
    let child = command.spawn().map_err(|error| cannot("run", error))?;
    let process = child.id();
    let debugging = how.gdb.then(|| Debugging::begin(folder, &child));
    let limit = if how.gdb { None } else { Some(how.longest()) };
    let waited = watch::wait(child, limit, folder.path());
    if let Some(debugging) = debugging {
        debugging.end();
    }
    end_left(folder.path());
    let (status, by) = waited.map_err(|error| cannot("wait for", error))?;
    Ok(Ended { process, status, by })
}

fn leave(folder: &Folder, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.path().join(name);
    fs::write(&path, text).map_err(|error| Failure::file(&path, "write", error))
}

/// Why a program that had nothing to say was not driven to where it should have come.
fn silent(folder: &Folder, ended: Ended) -> String {
    if folder.path().join(schedule::FILE).exists() {
        return "the program has not recorded anything: it must be built with `foretell cc`, `foretell c++` or \
                `cargo foretell`"
            .to_string();
    }
    match ended.by {
        EndedBy::Time(limit) => {
            format!(
                "the program was ended after {} on the way there (--stop-after gives more)",
                time_text(limit)
            )
        }
        EndedBy::Itself | EndedBy::User => {
            "the program was killed, or ended past the recorder, on the way there".to_string()
        }
    }
}

/// Where the thread was when the program went another way.
fn diverged(trace: Option<&Trace>, thread: &str, why: &str) -> String {
    let last = trace.and_then(|trace| {
        let names = descents(trace);
        let is_its = |event: &&Event| names[event.thread.index()].as_deref() == Some(thread);
        let place = |event: &Event| trace.names().loc_text(event.loc).into_owned();
        // Calls and the beginning of a thread may have no place.
        let last = trace.events().iter().rev().filter(is_its).map(place).find(|place| place != "?")?;
        Some(format!(" (its last recorded event is at {last})"))
    });
    format!("the program went another way: {thread} {why}{}", last.unwrap_or_default())
}

/// Looks in what the program has recorded whether it did come to where the schedule leads, and tells what that looked
/// like.
fn confirm(how: Drive<'_>, draft: &ScheduleDraft, folder: &Folder) -> Result<Confirmation, Failure> {
    let Some(trace) = record::driven(folder)? else {
        return Ok(Confirmation::not("the program came there, but nothing was recorded of that"));
    };
    let pair = match &draft.ending {
        EndingDraft::Race(accesses) => adjacent(&trace, accesses),
        EndingDraft::Used(accesses) => used_later(&trace, accesses),
        EndingDraft::Stuck(circle) => return Ok(deadlock::confirm(&trace, circle)),
    };
    let [first, second] = match pair {
        Ok(pair) => pair,
        Err(why) => return Ok(Confirmation::not(why)),
    };
    let live = |id: EventId| RacingAccess::new(id, trace.event(id), trace.names());
    let mut live = [live(first), live(second)];
    let file = TraceFile::new(how.name, &InputArgs { from_format: None, no_progress: true });
    let input = Input::of_trace(&file.name(), &trace);
    describe_accesses(&input, &mut live, &mut Sources::new(&file), &Watch::new(&file))?;
    Ok(match draft.ending {
        EndingDraft::Used(_) => Confirmation::of_use(live),
        EndingDraft::Race(_) | EndingDraft::Stuck(_) => Confirmation::of(live),
    })
}

/// The two accesses of a recorded run that the schedule is about: they must be next to each other, and must conflict.
fn adjacent(trace: &Trace, accesses: &[AccessDraft; 2]) -> Result<[EventId; 2], String> {
    let made = trace.steps().map(|steps| steps.made(trace.events())).unwrap_or_default();
    let [first, second] = pair(trace, &made, accesses)?;
    // Between the two there may be the rest of the first operation, and what the second thread does on its way without
    // a step.
    let [one, other] = [first, second].map(|id| trace.event(id));
    let [(_, _, first_step, ..), (_, held, second_step, ..)] = accesses;
    let is_part = |(event, made): (&Event, &u64)| {
        let of_first = event.thread == one.thread && (made == first_step || event.loc == one.loc);
        of_first || (event.thread == other.thread && (held..=second_step).contains(&made))
    };
    let mut between = trace.events().iter().zip(&made).take(second.index()).skip(first.index() + 1);
    if first > second || !between.all(is_part) {
        return Err("the program made the two accesses, but not adjacent to each other".to_string());
    }
    Ok([first, second])
}

/// The same for memory that is given back and used: the use must come later.
fn used_later(trace: &Trace, accesses: &[AccessDraft; 2]) -> Result<[EventId; 2], String> {
    let made = trace.steps().map(|steps| steps.made(trace.events())).unwrap_or_default();
    let [freed, used] = pair(trace, &made, accesses)?;
    if freed < used { Ok([freed, used]) } else { Err("the memory was used before it was freed".to_string()) }
}

/// The two accesses, which must conflict and be where they should. `made` are the steps that threads have made.
fn pair(trace: &Trace, made: &[u64], accesses: &[AccessDraft; 2]) -> Result<[EventId; 2], String> {
    if trace.steps().is_none() {
        return Err("the trace has no step counts".to_string());
    }
    let names = descents(trace);
    let of = |index: usize| {
        let (thread, _, step, kind, _) = &accesses[index];
        let is_it = |&(id, event): &(EventId, Event)| {
            names[event.thread.index()].as_ref() == Some(thread)
                && made[id.index()] == *step
                && event.op.access().is_some()
                && (*kind != RacingAction::Free || kind_of(trace, id) == Some(RacingAction::Free))
        };
        trace.iter().filter(is_it).collect::<Vec<_>>()
    };
    let (firsts, seconds) = (of(0), of(1));
    let found = firsts
        .iter()
        .find_map(|one| Some((one, seconds.iter().find(|other| conflict(one.1.op, other.1.op))?)));
    let Some((&(first, one), &(second, other))) = found else {
        return Err("the program came to the two accesses, but there they do not conflict".to_string());
    };
    for (event, (.., place)) in [one, other].into_iter().zip(accesses) {
        let found = trace.names().loc_text(event.loc);
        if found != *place {
            return Err(format!(
                "an access is at {found}, not at {place}: the program was changed since it was recorded"
            ));
        }
    }
    Ok([first, second])
}

fn conflict(one: Op, other: Op) -> bool {
    match (one.access(), other.access()) {
        (Some(one), Some(other)) => one.conflicts_with(other),
        _ => false,
    }
}

/// A debugger that comes as soon as the threads are held.
struct Debugging {
    is_over: Arc<AtomicBool>,
    waiter: thread::JoinHandle<()>,
}

impl Debugging {
    fn begin(folder: &Folder, child: &Child) -> Debugging {
        let (held, hold) = (folder.path().join(schedule::HELD), folder.path().join(schedule::HOLD));
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, process) = (Arc::clone(&is_over), child.id());
        let waiter = thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) && !held.exists() {
                thread::sleep(TICK);
            }
            if held.exists() {
                debug(&held, process);
            }
            // The held threads continue when the file is gone; it goes with its folder anyway.
            let _ = fs::remove_file(hold);
        });
        Debugging { is_over, waiter }
    }

    fn end(self) {
        self.is_over.store(true, Ordering::SeqCst);
        // It has nothing to say.
        let _ = self.waiter.join();
    }
}

/// Starts the debugger, and comes back when the user has left it.
fn debug(held: &Path, process: u32) {
    let told = fs::read_to_string(held).unwrap_or_default();
    let mut words = told.split_whitespace();
    let process = words.next().map_or_else(|| process.to_string(), String::from);
    let script = held.with_file_name("race.gdb.py");
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-p", &process]);
    if fs::write(&script, SCRIPT).is_ok() {
        gdb.arg("-x").arg(&script);
    }
    match gdb.status() {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            output::note("gdb is not installed (`apt install gdb`); the program continues");
        }
        Err(error) => output::note(&format!("cannot run gdb: {error}; the program continues")),
    }
}

/// Drives the program into each race, deadlock and violation of a report that is to be shown, and says of each how
/// that went. Only the first process of a command can be driven. Says whether there is one that the program did not
/// follow.
pub(crate) fn confirm_all(how: Drive<'_>, report: &mut Report) -> Result<bool, Failure> {
    let is_first = !report.trace.file.contains(" (process ");
    let mut driver = Driver { how, is_first, is_unfollowed: false, stopped: None, not_driven: Vec::new() };
    let mut confirmed = 0;
    for (number, race) in (1..).zip(report.races.iter_mut().filter(|race| !race.repeated)) {
        let why_not = why_no_schedule(race);
        let confirmation = driver.confirm(number, &mut race.schedule, why_not)?;
        confirmed += usize::from(confirmation.confirmed);
        race.confirmation = Some(confirmation);
    }
    report.notes.extend(driver.not_driven("race"));
    for (number, deadlock) in (1..).zip(&mut report.deadlocks) {
        let why_not = why_no_schedule_of(deadlock.witness.as_ref());
        deadlock.confirmation = Some(driver.confirm(number, &mut deadlock.schedule, why_not)?);
    }
    report.notes.extend(driver.not_driven("deadlock"));
    for (number, violation) in (1..).zip(&mut report.violations) {
        let why_not = why_no_schedule_of(violation.witness.as_ref());
        violation.confirmation = Some(driver.confirm(number, &mut violation.schedule, why_not)?);
    }
    report.notes.extend(driver.not_driven("violation"));
    report.driven = Some(confirmed);
    Ok(driver.is_unfollowed)
}

/// Drives a program along one schedule after the other.
struct Driver<'a> {
    how: Drive<'a>,
    /// The report is one of the first process.
    is_first: bool,
    /// There is a schedule that the program did not follow.
    is_unfollowed: bool,
    /// Why it is not driven any more. Once that is so, no other schedule is followed.
    stopped: Option<&'static str>,
    /// The numbers of what it was not driven into because of that.
    not_driven: Vec<usize>,
}

impl Driver<'_> {
    /// Drives the program along the schedule, which is improved where that is necessary, if there is one.
    fn confirm(
        &mut self,
        number: usize,
        schedule: &mut Option<String>,
        why_not: &'static str,
    ) -> Result<Confirmation, Failure> {
        if !self.is_first {
            return Ok(Confirmation::not("only the first process of a command can be driven"));
        }
        self.stopped = self.stopped.or_else(|| self.how.why_stop());
        let driven = match self.stopped {
            Some(why) => Err(why),
            None => self.follow(schedule, why_not)?,
        };
        Ok(driven.unwrap_or_else(|why| {
            self.stopped = Some(why);
            self.not_driven.push(number);
            Confirmation::not(why)
        }))
    }

    fn follow(&mut self, schedule: &mut Option<String>, why_not: &'static str) -> Result<Driven, Failure> {
        let known = match schedule.as_deref().map(schedule::Schedule::parse) {
            Some(Ok(known)) => known,
            Some(Err(problem)) => return Ok(Ok(Confirmation::not(problem.to_string()))),
            None => return Ok(Ok(Confirmation::not(why_not))),
        };
        let mut draft = ScheduleDraft::from(known);
        let driven = drive_unless_stopped(self.how, &mut draft)?;
        *schedule = Some(draft.to_string());
        self.is_unfollowed |= driven.as_ref().is_ok_and(|confirmation| !confirmation.confirmed);
        Ok(driven)
    }

    /// What of this kind the program was not driven into, and why.
    fn not_driven(&mut self, kind: &str) -> Option<String> {
        let numbers = std::mem::take(&mut self.not_driven);
        self.stopped.filter(|_| !numbers.is_empty()).map(|why| not_driven_text(kind, &numbers, why))
    }
}

/// Which of these the program was not driven into, and why.
fn not_driven_text(kind: &str, numbers: &[usize], why: &str) -> String {
    match numbers {
        [one] => format!("the program was not driven into {kind} {one}: {why}"),
        [first, .., last] => format!("the program was not driven into {kind}s {first} to {last}: {why}"),
        [] => why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::format::text::TextReader;

    use super::*;

    /// What is said of a run after which both threads should have raced at their third steps, at places 7 and 9.
    fn judged(events: &str) -> Result<[u32; 2], String> {
        let access = |thread: &str, kind, place: &str| (thread.to_string(), 2, 3, kind, place.to_string());
        let accesses = [access("main.1", RacingAction::Write, "7"), access("main", RacingAction::Read, "9")];
        let text = format!("main|fork(T1)|1\n{events}\n");
        let trace = Trace::read(Box::new(TextReader::new(Box::new(std::io::Cursor::new(text))))).unwrap();
        adjacent(&trace, &accesses).map(|pair| pair.map(EventId::number))
    }

    #[test]
    fn races_that_are_not_driven_are_told_by_their_numbers() {
        assert_eq!(not_driven_text("race", &[3], "x"), "the program was not driven into race 3: x");
        assert_eq!(
            not_driven_text("race", &[3, 4, 5], "x"),
            "the program was not driven into races 3 to 5: x"
        );
    }

    #[test]
    fn a_race_is_confirmed_only_if_the_recording_shows_it() {
        assert_eq!(judged("T1|w(x)|7\nmain|branch|8\nmain|r(x)|9\n#steps 2 3 0 1"), Ok([2, 4]));
        assert_eq!(judged("T1|w(y)|7\nT1|w(x)|7\nmain|r(x)|9\n#steps 2 3 0 1"), Ok([3, 4]));
        for (why, events) in [
            ("do not conflict", "T1|w(y)|7\nmain|r(x)|9\n#steps 2 3 1"),
            ("do not conflict", "T1|r(x)|7\nmain|r(x)|9\n#steps 2 3 1"),
            ("do not conflict", "T1|w(x)|7\nmain|r(x)|9\n#steps 2 4 1"),
            ("do not conflict", "T1|astore.rlx(x)|7\nmain|aload.rlx(x)|9\n#steps 2 3 1"),
            ("was changed since", "T1|w(x)|7\nmain|r(x)|8\n#steps 2 3 1"),
            ("adjacent to each other", "main|r(x)|9\nT1|w(x)|7\n#steps 2 1 3"),
            ("adjacent to each other", "T1|w(x)|7\nT1|acq(l)|8\nmain|r(x)|9\n#steps 2 3 1 1"),
            ("adjacent to each other", "T1|w(x)|7\nT1|w(y)|8\nmain|r(x)|9\n#steps 2 3 1 1"),
            ("no step counts", "T1|w(x)|7\nmain|r(x)|9"),
        ] {
            let found = judged(events).expect_err(events);
            assert!(found.contains(why), "{events}: {found}");
        }
    }
}
