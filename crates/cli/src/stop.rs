//! When to stop early: Ctrl-C, signals that ask to end, the time limit, and the end of the memory.
//!
//! All of them raise one flag, and everything that may take long looks at it: reading, converting, deciding. What then
//! makes results readable has [`PATIENCE`] left, after which [`is_urgent`] says so: it leaves out the rest, and says
//! how much that is.
//!
//! `SIGTERM` and `SIGHUP` do what Ctrl-C does, so that no program outlives us that is being recorded; what it did is
//! then looked at for a moment only. The first press of Ctrl-C asks for what is known so far, the second one kills.
//! While a program is being recorded, Ctrl-C is meant for that program alone. A time limit asks for the same, but only
//! of the work that it is set for.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use foretell_engine::Control;
use foretell_predict::Solver;
use foretell_z3::Pool;

use crate::error::Failure;
use crate::input::TraceFile;
use crate::memory;
use crate::progress::Progress;

/// Whether to stop, for whatever reason.
static STOP: AtomicBool = AtomicBool::new(false);
/// Since when: in milliseconds from [`BEGIN`] on, and never 0; 0 if not at all.
static SINCE: AtomicU64 = AtomicU64::new(0);
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// So long results may be put in order once everything is to stop.
const PATIENCE: Duration = Duration::from_millis(700);
/// What all limits of time so far have given together, and what of it was used, in milliseconds. If one of them was
/// none, the first is the largest number.
static GIVEN: AtomicU64 = AtomicU64::new(0);
static USED: AtomicU64 = AtomicU64::new(0);
/// What comes after work within a limit has at least so long: the results found by then are still reported.
const MOMENT: Duration = Duration::from_millis(200);
/// Whether a signal has asked us to end. Once set, it stays.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The first signal that came; 0 if none has.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Whether a program is being recorded: then Ctrl-C is meant for it.
static PROGRAM_RUNS: AtomicBool = AtomicBool::new(false);
/// How often Ctrl-C was pressed while it ran.
static PRESSES: AtomicU32 = AtomicU32::new(0);

/// Whether foretell is to stop, and not only the program.
static IN_A_HURRY: AtomicBool = AtomicBool::new(false);
/// So much of a processor's time is spent on what a program did if we are to end,
const HURRY: Duration = Duration::from_secs(1);
/// but no more than this where the processors are busy with other things.
const LONGEST_HURRY: Duration = Duration::from_secs(10);
/// How often to look.
const TICK: Duration = Duration::from_millis(20);

/// What a shell reports for a program that was interrupted.
pub(crate) const INTERRUPTED_CODE: i32 = 130;

/// From now on Ctrl-C does not end the program at once.
pub(crate) fn listen() -> Result<(), Failure> {
    LazyLock::force(&BEGIN);
    listen_for_signals()
        .map_err(|error| Failure::Environment(format!("cannot listen for Ctrl-C and other signals: {error}")))
}

/// Listens for all signals that ask to end. Under `nohup`, a terminal that goes away is ignored.
fn listen_for_signals() -> io::Result<()> {
    let asking = [SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)).chain([SIGINT]);
    let mut signals = Signals::new(asking)?;
    let listen = move || signals.forever().for_each(heed);
    thread::Builder::new().name("listens for signals".to_string()).spawn(listen)?;
    Ok(())
}

fn heed(signal: i32) {
    // Only the first one is named.
    let _ = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if signal != SIGINT {
        IN_A_HURRY.store(true, Ordering::SeqCst);
    }
    if PROGRAM_RUNS.load(Ordering::SeqCst) {
        PRESSES.fetch_add(1, Ordering::SeqCst);
        return;
    }
    if INTERRUPTED.swap(true, Ordering::SeqCst) {
        std::process::exit(INTERRUPTED_CODE);
    }
    request();
}

/// What people call the signal that has asked us to end.
pub(crate) fn signal_name() -> &'static str {
    match SIGNAL.load(Ordering::SeqCst) {
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "Ctrl-C",
    }
}

/// Whether we were started without hearing of this signal.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}

/// The user wants foretell to end, and not only the recorded program: its recording is analysed for a moment only.
fn hurry() {
    let wait = || {
        let (begin, used) = (Instant::now(), processor_time());
        let is_enough = || {
            let used = processor_time().zip(used).map(|(now, before)| now.saturating_sub(before));
            used.is_none_or(|used| used >= HURRY) || begin.elapsed() >= LONGEST_HURRY
        };
        while !is_enough() {
            thread::sleep(TICK);
        }
        INTERRUPTED.store(true, Ordering::SeqCst);
        request();
    };
    // Without a thread there is no moment.
    if thread::Builder::new().name("hurries".to_string()).spawn(wait).is_err() {
        INTERRUPTED.store(true, Ordering::SeqCst);
        request();
    }
}

/// How much of the processors' time we have had, where the system tells.
fn processor_time() -> Option<Duration> {
    const TICKS_PER_SECOND: u64 = 100;
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program comes before, and may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// While this lives, Ctrl-C is counted and asks nothing of us.
pub(crate) struct Presses(());

impl Presses {
    /// A program is being recorded.
    pub(crate) fn of_program() -> Presses {
        PRESSES.store(0, Ordering::SeqCst);
        PROGRAM_RUNS.store(true, Ordering::SeqCst);
        Presses(())
    }

    /// How often Ctrl-C was pressed.
    pub(crate) fn count(&self) -> u32 {
        PRESSES.load(Ordering::SeqCst)
    }
}

impl Drop for Presses {
    fn drop(&mut self) {
        PROGRAM_RUNS.store(false, Ordering::SeqCst);
        if IN_A_HURRY.load(Ordering::SeqCst) {
            hurry();
        }
    }
}

/// Whether everything is to stop.
pub(crate) fn is_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// In milliseconds.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn add(total: &AtomicU64, millis: u64) {
    // It never refuses.
    let _ = total.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |sum| Some(sum.saturating_add(millis)));
}

/// Everything is to stop. Allocates nothing.
pub(crate) fn request() {
    let now = millis(BEGIN.elapsed()).max(1);
    // What was asked for first counts.
    let _ = SINCE.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
    STOP.store(true, Ordering::SeqCst);
}

/// Whether everything was to stop some time ago, so that not even results are put in order any more.
pub(crate) fn is_urgent() -> bool {
    let since = SINCE.load(Ordering::Relaxed);
    is_requested() && since > 0 && BEGIN.elapsed().saturating_sub(Duration::from_millis(since)) >= PATIENCE
}

/// The same for what began then, and has had its time as well.
pub(crate) fn is_urgent_since(begin: Instant) -> bool {
    is_urgent() && begin.elapsed() >= PATIENCE
}

/// Whether the user wants everything to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Whether foretell is to stop, so that nothing new is begun.
pub(crate) fn is_in_a_hurry() -> bool {
    IN_A_HURRY.load(Ordering::SeqCst)
}

/// For libraries that look for themselves.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}

/// What an analysis asks of this process: signals, the time limit, the memory, and the terminal.
pub(crate) struct Watch<'a> {
    limit: Option<&'a TimeLimit>,
    solver: Arc<Pool>,
    show_progress: bool,
}

impl<'a> Watch<'a> {
    /// For work on this trace, without a limit of time.
    pub(crate) fn new(file: &TraceFile) -> Watch<'a> {
        Watch { limit: None, solver: Arc::default(), show_progress: file.shows_progress() }
    }

    /// For work on no trace in particular, which shows its progress itself.
    pub(crate) fn plain() -> Watch<'a> {
        Watch { limit: None, solver: Arc::default(), show_progress: false }
    }

    /// The same, within a limit of time.
    pub(crate) fn within(self, limit: &'a TimeLimit) -> Watch<'a> {
        Watch { limit: Some(limit), ..self }
    }
}

impl Control for Watch<'_> {
    fn stop_flag(&self) -> &AtomicBool {
        flag()
    }

    fn is_urgent(&self) -> bool {
        is_urgent()
    }

    fn is_interrupted(&self) -> bool {
        is_interrupted()
    }

    fn is_time_over(&self) -> bool {
        self.limit.is_some_and(TimeLimit::is_over)
    }

    fn available_memory(&self) -> Option<u64> {
        memory::available()
    }

    fn reached_memory_limit(&self) -> Option<(u64, bool)> {
        memory::reached_limit()
    }

    fn solver(&self) -> Arc<dyn Solver> {
        Arc::clone(&self.solver) as Arc<dyn Solver>
    }

    fn progress(&self, doing: &str) -> Box<dyn foretell_engine::Progress> {
        Box::new(Progress::of_work(doing, self.show_progress))
    }
}

/// Asks everything to stop after some time, unless it is dropped before. What comes after it is not stopped by it.
/// There is only one at a time.
pub(crate) struct TimeLimit {
    /// Until when it lasts, if there is one.
    end: Option<Instant>,
    /// Set when the time was over.
    over: Arc<AtomicBool>,
    /// Who waits for the end of the time, and what to drop so that he does not.
    watchdog: Option<(Sender<()>, JoinHandle<()>)>,
    /// What others get of this: how much it adds to what was given, and to what was used, and when it began.
    adds: (u64, u64, Instant),
}

impl TimeLimit {
    /// Begins to wait, if there is a limit.
    pub(crate) fn start(limit: Option<Duration>) -> Result<TimeLimit, Failure> {
        TimeLimit::start_after(limit, Duration::ZERO)
    }

    /// The same if so much of the time was spent already.
    pub(crate) fn start_after(limit: Option<Duration>, spent: Duration) -> Result<TimeLimit, Failure> {
        let adds = (limit.map_or(u64::MAX, millis), millis(spent), Instant::now());
        TimeLimit::wait(limit.map(|limit| limit.saturating_sub(spent)), adds)
    }

    /// A limit for what comes after all work that had limits: what these have left, and at least a moment.
    pub(crate) fn rest() -> Result<TimeLimit, Failure> {
        let (given, used) = (GIVEN.load(Ordering::SeqCst), USED.load(Ordering::SeqCst));
        let given = (given > 0 && given < u64::MAX).then(|| Duration::from_millis(given));
        let left = given.map(|given| given.saturating_sub(Duration::from_millis(used)).max(MOMENT));
        TimeLimit::wait(left, (0, 0, Instant::now()))
    }

    fn wait(left: Option<Duration>, adds: (u64, u64, Instant)) -> Result<TimeLimit, Failure> {
        let over = Arc::new(AtomicBool::new(false));
        let end = left.and_then(|left| Instant::now().checked_add(left));
        let mut waiting = TimeLimit { end, over, watchdog: None, adds };
        let Some(left) = left else { return Ok(waiting) };
        LazyLock::force(&BEGIN);
        if left.is_zero() {
            // Nothing must be quick enough to come before the end of no time at all.
            waiting.over.store(true, Ordering::SeqCst);
            request();
            return Ok(waiting);
        }
        let (sender, receiver) = mpsc::channel::<()>();
        let tell = Arc::clone(&waiting.over);
        let wait = move || {
            if receiver.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                tell.store(true, Ordering::SeqCst);
                request();
            }
        };
        let watchdog = thread::Builder::new().name("time limit".to_string()).spawn(wait);
        let watchdog =
            watchdog.map_err(|error| Failure::Environment(format!("cannot watch the time: {error}")))?;
        waiting.watchdog = Some((sender, watchdog));
        Ok(waiting)
    }

    /// How much time is left, if there is a limit.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether the time was over.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        if let Some((sender, watchdog)) = self.watchdog.take() {
            drop(sender);
            // It cannot panic, and if it did there would be nothing to clean up.
            let _ = watchdog.join();
        }
        let (given, used, begin) = self.adds;
        add(&GIVEN, given);
        add(&USED, used.saturating_add(millis(begin.elapsed())));
        // If Ctrl-C comes in between, one of the two sides sees it.
        let since = SINCE.load(Ordering::SeqCst);
        STOP.store(false, Ordering::SeqCst);
        if is_interrupted() {
            STOP.store(true, Ordering::SeqCst);
        } else {
            // Who has asked for it again meanwhile is not forgotten.
            let _ = SINCE.compare_exchange(since, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_stops_only_its_own_work() {
        {
            let limit = TimeLimit::start(Some(Duration::from_millis(10))).unwrap();
            while !is_requested() {
                thread::sleep(Duration::from_millis(1));
            }
            assert!(limit.is_over() && !is_interrupted());
        }
        assert!(!is_requested());
        for none in [None, Some(Duration::MAX)] {
            let limit = TimeLimit::start(none).unwrap();
            assert!(!limit.is_over() && !is_requested());
        }
        // No limit was one of them.
        assert!(TimeLimit::rest().unwrap().left().is_none());
    }
}
