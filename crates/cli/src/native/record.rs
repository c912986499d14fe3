//! Running a command whose processes record what they do.

use std::cell::Cell;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use foretell_engine::analysis::{size_text, time_text};
use foretell_native::{
    Follow, IncompleteReason, LogError, OnlineRace, Pass, Timed, Timing, Unread, convert_while,
};
use foretell_schedule::Name;
use foretell_trace::{Ending, Trace, TraceError};
use foretell_wire::settings;
use foretell_wire::started::{self, Unrecorded};
use signal_hook::low_level::signal_name;

use super::folder::Private;
use super::guard::Guarded;
use super::java;
use super::mapped::Mapped;
use super::rotate::Rotation;
use super::tools;
use super::watch::{self, EndedBy};
use crate::args::{LogArgs, LogPart, Order};
use crate::error::Failure;
use crate::front_end::cannot_run;
use crate::{memory, output, stop};

/// What the files with such races are called.
const RACES_ENDING: &str = "races";
/// What logs are called.
pub(super) const LOG_ENDING: &str = "ftraw";
/// What the lessons of a run are called.
const LESSONS_ENDING: &str = "triggers";

/// Of the time for a trace, so much is for making it: what is known then is to be looked at as well.
const CONVERTING: f64 = 0.5;
/// Of that time, so much is for the first pass, which is the quicker one.
const SURVEYING: f64 = 0.3;

/// A new folder that goes away with its content.
pub(crate) struct Folder {
    made: Private,
    /// How far threads are followed.
    follow: Follow,
    /// If this process is killed, the guard cleans up.
    _guarded: Guarded,
    /// How long one trace may take in all.
    time_limit: Option<Duration>,
}

impl Folder {
    pub(crate) fn new() -> Result<Folder, Failure> {
        Private::new()
            .map(|made| Folder {
                _guarded: Guarded::new(made.path()),
                made,
                follow: Follow::Values,
                time_limit: None,
            })
            .map_err(|error| Failure::file(&env::temp_dir(), "make a folder in", error))
    }

    /// The same for logs that are followed only so far.
    pub(crate) fn following(self, follow: Follow) -> Folder {
        Folder { follow, ..self }
    }

    /// The same for traces that may take so long in all.
    pub(crate) fn within(self, time_limit: Option<Duration>) -> Folder {
        Folder { time_limit, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.made.path()
    }

    /// Why the rest of a log is not read, if that is so.
    fn why_stop(&self, pass: Pass, begin: Instant) -> Option<Reason> {
        // What the first pass has found stays in memory during the second one.
        let (share, part) = if pass == Pass::Survey { (CONVERTING * SURVEYING, 4) } else { (CONVERTING, 2) };
        let is_late = self.time_limit.is_some_and(|limit| begin.elapsed() >= limit.mul_f64(share));
        match () {
            () if memory::is_taken(part) => Some(Reason::Memory),
            () if stop::is_requested() => Some(Reason::Stop),
            () => is_late.then_some(Reason::Time),
        }
    }
}

/// Why a log is not read to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Memory,
    Stop,
    Time,
}

/// How a program is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<'a> {
    /// What messages call the program.
    pub(crate) name: &'a Path,
    /// What all choices of the schedule are drawn from.
    pub(crate) seed: u64,
    /// How threads are recorded.
    pub(crate) order: Order,
    /// How long it may run, if there is a limit.
    pub(crate) stop_after: Option<Duration>,
    /// How many bytes the logs of all its processes together may have, and what is dropped if that is too little.
    pub(crate) log: LogArgs,
    /// The scheduling strategy.
    pub(crate) hunting: Hunting<'a>,
}

/// A strategy for the turns of threads, see `docs/hunting.md`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hunting<'a> {
    /// Which one, if turns are not given at random.
    pub(crate) strategy: Option<Name>,
    /// Its depth, if not the usual one.
    pub(crate) depth: Option<u32>,
    /// About how many picks there will be, if that is known.
    pub(crate) steps: Option<u64>,
    /// What the run before has learnt, if the file is there; what this one learns goes there, too.
    pub(crate) triggers: Option<&'a Path>,
}

impl Hunting<'_> {
    fn set_environment(&self, command: &mut Command) {
        let Some(strategy) = self.strategy else { return };
        command.env(settings::STRATEGY.text(), strategy.text());
        if let Some(depth) = self.depth {
            command.env(settings::DEPTH.text(), depth.to_string());
        }
        if let Some(steps) = self.steps {
            command.env(settings::STEPS.text(), steps.to_string());
        }
        if let Some(path) = self.triggers.filter(|path| path.exists()) {
            command.env(settings::TRIGGERS.text(), path);
        }
    }

    /// Keeps what the run has learnt.
    fn keep_lessons(&self, folder: &Folder, process: u32) -> Result<(), Failure> {
        let Some(target) = self.triggers else { return Ok(()) };
        let Some(found) = lessons(folder, process)? else { return Ok(()) };
        let learnt = fs::read_to_string(&found).map_err(|error| Failure::file(&found, "read", error))?;
        output::write(Some(target), &learnt)
    }
}

/// The file with what a run has learnt: the first process of the command, or the first one that it started.
pub(crate) fn lessons(folder: &Folder, process: u32) -> Result<Option<PathBuf>, Failure> {
    let own = folder.path().join(format!("{process}.{LESSONS_ENDING}"));
    Ok(if own.exists() { Some(own) } else { files(folder, LESSONS_ENDING)?.into_iter().next() })
}

/// What a process did.
pub(crate) struct Recording {
    pub(crate) trace: Trace,
    /// Why it is not complete, if it is not.
    pub(crate) cut_because: Option<String>,
    /// It was killed and the program, to which it belonged, went on and ended well. So it is complete.
    pub(crate) is_survived: bool,
    /// All its threads waited for each other.
    pub(crate) is_deadlock: bool,
    /// Why the same seed may give another run, if the recorder knows.
    pub(crate) not_repeatable: Option<String>,
    /// The log was full before the program ended.
    pub(crate) is_full: bool,
    /// What of the run is not in the trace, though there was time and room for it once, in words, if anything.
    pub(crate) unread: Option<String>,
    /// How long it took to make the trace.
    pub(crate) spent: Duration,
    /// How many accesses were to memory that other processes may see, and so not examined.
    pub(crate) shared_accesses: u64,
    /// The log, as long as its folder is there.
    pub(crate) log: PathBuf,
    /// Programs that the command has started and threads that were not recorded; known for its first process.
    pub(crate) unrecorded: Unrecorded,
}

impl Recording {
    /// The program ended well. If it was written down up to the moment when the process was gone, nothing is missing.
    fn survive(&mut self) {
        self.is_survived = self.cut_because.as_deref() == Some(GONE);
    }
}

/// How a command has come to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// The number of its first process.
    pub(crate) process: u32,
    pub(crate) status: ExitStatus,
    pub(crate) by: EndedBy,
}

impl Ended {
    /// Whether it was ended, and has not come to its end by itself.
    pub(crate) fn is_cut(self) -> bool {
        self.by != EndedBy::Itself || self.status.signal().is_some()
    }
}

/// Runs the command and returns what each of its recorded processes did, in the order of their numbers.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    manner: Manner<'_>,
    folder: &Folder,
) -> Result<Vec<Recording>, Failure> {
    let name = manner.name;
    let rotation = rotation(manner, folder)?;
    let child = command(program, manner, folder).args(arguments).spawn();
    let child = child.map_err(|error| cannot_run(name, &error))?;
    let process = child.id();
    let waited = watch::wait(child, manner.stop_after, folder.path());
    drop(rotation);
    let (status, by) = waited
        .map_err(|error| Failure::Environment(format!("cannot wait for {}: {error}", name.display())))?;
    if let Some(ending) = ending(status, by) {
        output::note(&format!("{}: {ending}", name.display()));
    }
    manner.hunting.keep_lessons(folder, process)?;
    let recordings = collect(name, folder, Ended { process, status, by })?;
    if let Some(why) = recordings.iter().find_map(|recording| recording.not_repeatable.as_ref()) {
        output::note(&format!("{}: {why}", name.display()));
    }
    Ok(recordings)
}

/// Drops the beginnings of the logs while it is there, if that is wanted.
pub(crate) fn rotation(manner: Manner<'_>, folder: &Folder) -> Result<Option<Rotation>, Failure> {
    match (manner.log.log_keep, manner.order) {
        (LogPart::First, _) => return Ok(None),
        (LogPart::Last, Order::Serial) => {}
        (LogPart::Last, Order::Striped) => {
            return Err(Failure::Usage("--log-keep last works with --order serial only".to_string()));
        }
    }
    let rotation = Rotation::start(folder.path(), manner.log.log_limit);
    rotation.map(Some).map_err(|error| Failure::Environment(format!("cannot start a thread: {error}")))
}

/// A command whose processes write down what they do.
pub(crate) fn command(program: &Path, manner: Manner<'_>, folder: &Folder) -> Command {
    let is_striped = manner.order == Order::Striped;
    let mut command = java::command(program);
    command
        .env(settings::LOG.text(), folder.path())
        .env(settings::SEED.text(), manner.seed.to_string())
        .env(settings::LOG_LIMIT.text(), manner.log.log_limit.to_string())
        .env(settings::ORDER.text(), if is_striped { settings::STRIPED } else { settings::SERIAL })
        .env(settings::DETECT.text(), "0");
    if manner.log.log_keep == LogPart::Last {
        command.env(settings::LOG_KEEP.text(), settings::LAST);
    }
    manner.hunting.set_environment(&mut command);
    command
}

/// The logs of the processes of a command, in the order of their numbers.
pub(crate) fn logs(folder: &Folder) -> Result<Vec<PathBuf>, Failure> {
    files(folder, LOG_ENDING)
}

/// What the processes of a command have written down, in the order of their numbers.
pub(crate) fn collect(name: &Path, folder: &Folder, ended: Ended) -> Result<Vec<Recording>, Failure> {
    let logs = files(folder, LOG_ENDING)?;
    if logs.is_empty() {
        return Err(not_recorded(name));
    }
    let mut recordings = Vec::new();
    for path in &logs {
        recordings.extend(read(path, name, folder, ended)?);
    }
    if ended.by == EndedBy::Itself
        && ended.status.success()
        && logs.iter().any(|log| is_of(log, ended.process))
    {
        let others = recordings.iter_mut().filter(|recording| !is_of(&recording.log, ended.process));
        others.for_each(Recording::survive);
    }
    if recordings.is_empty() {
        if let Some(IncompleteReason::Full(limit)) = logs.iter().find_map(|log| why_full(log)) {
            let (name, limit) = (name.display(), size_text(limit));
            return Err(Failure::Environment(format!(
                "the log of {name} was full (--log-limit {limit}) before the first record; raise --log-limit"
            )));
        }
        return Err(Failure::Usage(format!("{} ended before it recorded anything", name.display())));
    }
    if let Some(first) = recordings.first_mut() {
        first.unrecorded = unrecorded(folder, &logs);
    }
    Ok(recordings)
}

/// What the processes have started that left no log.
fn unrecorded(folder: &Folder, logs: &[PathBuf]) -> Unrecorded {
    let noted = fs::read(folder.path().join(started::FILE)).unwrap_or_default();
    let logs_of = |process| logs.iter().filter(|log| is_of(log, process)).count();
    started::unrecorded(&String::from_utf8_lossy(&noted), logs_of)
}

/// What a program has seen that looked for races itself.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The places of each race, in order.
    pub(crate) pairs: Vec<[String; 2]>,
    /// A process has stopped to look at some moment.
    pub(crate) is_blind: bool,
    /// All threads of a process waited for each other.
    pub(crate) is_deadlock: bool,
}

/// What the processes of a command have seen that looked for races themselves.
pub(crate) fn seen(name: &Path, folder: &Folder) -> Result<Seen, Failure> {
    let logs = files(folder, LOG_ENDING)?;
    if logs.is_empty() {
        return Err(not_recorded(name));
    }
    let mut seen = Seen::default();
    for path in logs {
        let read = |path: &Path| fs::read(path).map_err(|error| Failure::file(path, "read", error));
        let log = Mapped::open(&path).map_err(|error| Failure::file(&path, "read", error))?;
        seen.is_deadlock |= foretell_native::why_cut(&log) == Some(IncompleteReason::Deadlock);
        let races = path.with_extension(RACES_ENDING);
        if !races.exists() {
            continue;
        }
        match foretell_native::races(&log, &read(&races)?) {
            Ok(found) => {
                seen.is_blind |= found.is_blind;
                seen.pairs.extend(found.races.iter().map(places));
            }
            // It was ended before it began.
            Err(LogError::Empty) => {}
            Err(error) => return Err(Failure::Usage(format!("the races of {}: {error}", name.display()))),
        }
    }
    seen.pairs.sort();
    seen.pairs.dedup();
    Ok(seen)
}

/// The two places of a race, in order.
fn places(race: &OnlineRace) -> [String; 2] {
    let mut places = [&race.first, &race.second].map(|access| access.place.location().to_string());
    places.sort();
    places
}

/// Why there is no recording, as far as the program itself tells.
fn not_recorded(name: &Path) -> Failure {
    let is_java = java::is_java(name) || java::is_virtual_machine(name);
    let why = match tools::is_instrumented(name) {
        _ if is_java => {
            return Failure::Usage(format!(
                "{} has not recorded anything: {}",
                name.display(),
                java::why_not_recorded()
            ));
        }
        Some(true) => {
            "it is instrumented, but has ended before it began, or cannot write to the folder of recordings"
        }
        Some(false) => {
            "it is not instrumented, and has started no program that is; build it with `foretell cc`, \
             `foretell c++` or `cargo foretell build`"
        }
        None => {
            "programs must be built with `foretell cc`, `foretell c++` or `cargo foretell`, or run by Java"
        }
    };
    Failure::Usage(format!("{} has not recorded anything: {why}", name.display()))
}

/// How the program ended, if that is to be reported.
pub(crate) fn ending(status: ExitStatus, ended_by: EndedBy) -> Option<String> {
    let kept = "what was seen up to then is kept";
    match (ended_by, status.signal(), status.code()) {
        (EndedBy::User, ..) => Some(format!("ended by {}; {kept}", stop::signal_name())),
        (EndedBy::Time(limit), ..) => Some(format!("ended after {}; {kept}", time_text(limit))),
        (EndedBy::Itself, Some(signal), _) => {
            Some(format!("the program was killed by {}; {kept}", signal_text(signal)))
        }
        (EndedBy::Itself, None, None | Some(0)) => None,
        (EndedBy::Itself, None, Some(code)) => Some(format!("the program ended with exit code {code}")),
    }
}

fn signal_text(signal: i32) -> String {
    let name = signal_name(signal).unwrap_or("unknown");
    format!("signal {signal} ({name})")
}

/// Why the recording of a process is not complete for which only the program itself has waited.
pub(crate) const GONE: &str = "the process was killed, or ended without closing its recording";

/// Why what a process has written down is not complete. It knows some reasons itself; others only who has waited for
/// it.
fn why_cut(log: &Path, told: Option<IncompleteReason>, ended: Ended) -> String {
    match told {
        Some(IncompleteReason::Deadlock) => return "the program was in a deadlock".to_string(),
        Some(IncompleteReason::Raced) => return "the program was ended at the race".to_string(),
        Some(IncompleteReason::Diverged) => return "the program did not follow its schedule".to_string(),
        Some(IncompleteReason::Full(limit)) => {
            return format!("the log reached --log-limit {}; the program continued", size_text(limit));
        }
        Some(IncompleteReason::NotWritten(error)) => {
            let error = io::Error::from_raw_os_error(i32::try_from(error).unwrap_or(0));
            return format!("it could not be written on: {error}");
        }
        None => {}
    }
    match (ended.by, ended.status.signal(), ended.status.code()) {
        (EndedBy::User, ..) => format!("ended by {}", stop::signal_name()),
        (EndedBy::Time(limit), ..) => format!("ended after {}", time_text(limit)),
        (EndedBy::Itself, Some(signal), _) if is_of(log, ended.process) => {
            format!("the program was killed by {}", signal_text(signal))
        }
        (EndedBy::Itself, None, Some(code)) if is_of(log, ended.process) => {
            format!("the program ended without closing its recording, with exit code {code}")
        }
        _ => GONE.to_string(),
    }
}

/// Why the same seed may give another run.
fn timing_text(timed: &Timed) -> String {
    let why = match timed.timing {
        Timing::Overtaken => {
            "ran uninstrumented code for long, or was blocked there, and others continued without it"
        }
        Timing::CameBack => "was blocked in the kernel while others continued",
        Timing::Unseen => {
            "waited for something that uninstrumented threads, other processes or signal handlers may release"
        }
        Timing::Handler => "was blocked by a signal handler",
        Timing::Ending => "was still ending when others continued",
        Timing::Exit => "called exit, and other threads were not done in time",
    };
    let place = Some(&timed.location).filter(|place| *place != "?");
    let place = place.map(|place| format!(" (last at {place})")).unwrap_or_default();
    format!("the same seed may give another run: {}{place} {why}", timed.thread)
}

/// Whether the log is that of this process.
fn is_of(log: &Path, process: u32) -> bool {
    let name = log.file_stem().unwrap_or_default().to_string_lossy();
    // A process that has become another program has several.
    name.split('-').next() == Some(&process.to_string())
}

/// The files with this ending that the processes have written, in the order of their numbers.
fn files(folder: &Folder, wanted: &str) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::file(folder.path(), "read", error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.path()).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == wanted) {
            found.push(path);
        }
    }
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(found)
}

/// Says that a log was full, if it was.
fn why_full(log: &Path) -> Option<IncompleteReason> {
    let log = Mapped::open(log).ok()?;
    foretell_native::why_cut(&log).filter(|why| matches!(why, IncompleteReason::Full(_)))
}

/// What a process did; nothing if it was ended before it began to record.
fn read(log: &Path, program: &Path, folder: &Folder, ended: Ended) -> Result<Option<Recording>, Failure> {
    let begin = Instant::now();
    let bytes = Mapped::open(log).map_err(|error| Failure::file(log, "read", error))?;
    let reason = Cell::new(None);
    let may_continue = |pass: Pass| {
        bytes.pass_by();
        let now = folder.why_stop(pass, begin);
        reason.set(now.or(reason.get()));
        now.is_none()
    };
    let recording = match convert_while(&bytes, folder.follow, &may_continue) {
        Ok(recording) => recording,
        Err(LogError::Empty) => return Ok(None),
        Err(error) => {
            return Err(Failure::Usage(format!("the recording of {}: {error}", program.display())));
        }
    };
    let told = foretell_native::why_cut(&bytes);
    let dropped = foretell_native::dropped(&bytes).map(dropped_text);
    let not_repeatable = foretell_native::timed(&bytes).map(|timed| timing_text(&timed));
    drop(bytes);
    let failed = |error: TraceError| Failure::Trace { file: program.display().to_string(), error };
    let mut trace = Trace::check(recording.events).map_err(failed)?;
    if let Some((values, _)) = recording.values {
        trace = trace.with_values(values).map_err(|mismatch| failed(mismatch.into()))?;
    }
    let unread = recording.unread.map(|unread| unread_text(unread, reason.get(), folder));
    let (is_deadlock, is_full) =
        (told == Some(IncompleteReason::Deadlock), matches!(told, Some(IncompleteReason::Full(_))));
    let unread = match (dropped, unread) {
        (Some(dropped), Some(unread)) => Some(format!("{dropped}; {unread}")),
        (dropped, unread) => dropped.or(unread),
    };
    let cut_because = (trace.ending() == Ending::CutShort).then(|| match unread.clone() {
        Some(unread) if is_full => format!("{unread}; moreover {}", why_cut(log, told, ended)),
        Some(unread) => unread,
        None => why_cut(log, told, ended),
    });
    let (log, spent) = (log.to_path_buf(), begin.elapsed());
    Ok(Some(Recording {
        trace,
        cut_because,
        is_survived: false,
        is_deadlock,
        is_full,
        not_repeatable,
        unread,
        shared_accesses: recording.shared,
        spent,
        log,
        unrecorded: Unrecorded::default(),
    }))
}

/// How much of a recording was dropped.
fn dropped_text(bytes: u64) -> String {
    format!(
        "the first {} MB of the recording were dropped, as --log-keep last says: races with what happened there are not found",
        bytes.div_ceil(1 << 20)
    )
}

/// How much of a log is not in the trace, and why.
fn unread_text(unread: Unread, reason: Option<Reason>, folder: &Folder) -> String {
    let (read, of) = (unread.read, unread.of);
    let permille = u128::from(read) * 1000 / u128::from(of.max(1));
    let megabytes = |bytes: u64| format!("{}.{}", bytes >> 20, ((bytes & 0xF_FFFF) * 10) >> 20);
    let percent = format!("{}.{} %", permille / 10, permille % 10);
    let read = format!("read {} of {} MB ({percent})", megabytes(read), megabytes(of));
    let why = match (reason, folder.time_limit) {
        (Some(Reason::Memory), _) => "the memory for that was used up, --memory gives more".to_string(),
        (Some(Reason::Time), Some(limit)) => {
            format!("half of the time limit of {} was over, --time-limit gives more", time_text(limit))
        }
        _ => "interrupted".to_string(),
    };
    format!("the log was not read to its end: {read}; {why}")
}

/// What the process did that was given a schedule, if it has written that down.
pub(crate) fn driven(folder: &Folder) -> Result<Option<Trace>, Failure> {
    for path in files(folder, LOG_ENDING)? {
        let bytes = Mapped::open(&path).map_err(|error| Failure::file(&path, "read", error))?;
        if matches!(
            foretell_native::why_cut(&bytes),
            Some(IncompleteReason::Raced | IncompleteReason::Deadlock | IncompleteReason::Diverged)
        ) {
            let may_continue = |_| {
                bytes.pass_by();
                !stop::is_requested()
            };
            let log = foretell_native::convert_while(&bytes, Follow::Nothing, &may_continue);
            return Ok(log.ok().and_then(|log| Trace::check(log.events).ok()));
        }
    }
    Ok(None)
}

/// The name for the trace of the process at `index`: all but the first have their number in it.
pub(crate) fn numbered(path: &Path, index: usize) -> PathBuf {
    if index == 0 {
        return path.to_path_buf();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    path.with_file_name(format!("{stem}-{}.{ending}", index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_recording_is_cut_short_is_told_as_far_as_it_is_known() {
        let killed = Ended { process: 12, status: ExitStatus::from_raw(9), by: EndedBy::Itself };
        let text = |log: &str, told, ended| why_cut(Path::new(log), told, ended);
        assert_eq!(text("12.ftraw", None, killed), "the program was killed by signal 9 (SIGKILL)");
        assert_eq!(text("12-1.ftraw", None, killed), "the program was killed by signal 9 (SIGKILL)");
        assert_eq!(
            text("123.ftraw", None, killed),
            "the process was killed, or ended without closing its recording"
        );
        let full = Some(IncompleteReason::NotWritten(28));
        assert!(text("12.ftraw", full, killed).starts_with("it could not be written on: No space"));
        let stopped = Ended { by: EndedBy::Time(Duration::from_secs(3)), ..killed };
        assert_eq!(text("12.ftraw", None, stopped), "ended after 3s");
    }

    #[test]
    fn the_first_process_has_the_plain_name() {
        let path = Path::new("out/run.ftr.zst");
        assert_eq!(numbered(path, 0), path);
        assert_eq!(numbered(path, 1), Path::new("out/run-2.ftr.zst"));
    }
}
