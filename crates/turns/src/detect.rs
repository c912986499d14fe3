//! Looking for races while the program runs, instead of recording: whatever threads do is shown to a detector as soon
//! as that is possible, and forgotten.
//!
//! Nothing else changes. The same seed makes the same choices, so a run in which something was found can be had again
//! with a recording.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_online::{Detector, ShortRecord};
use foretell_wire::races::{MAGIC, RacesEntry};
use foretell_wire::record::Record;
use foretell_wire::site::SiteTable;

use crate::arena;
use crate::file::{self, write_at};
use crate::kept::RACES;
use crate::log::Seen;
use crate::system::{close, say, without_break_ins};

static ON: AtomicBool = AtomicBool::new(false);

struct Detection {
    detector: Detector,
    /// How long the file is that races are written to, as soon as they are found.
    written: usize,
    /// It was reported that nothing is examined any more.
    is_blind: bool,
}

/// To be touched by whose turn it is.
struct DetectionCell(UnsafeCell<Option<Detection>>);

// SAFETY: only the thread that has its turn touches the content, and where threads run in parallel nothing is
// detected.
unsafe impl Sync for DetectionCell {}

static DETECTION: DetectionCell = DetectionCell(UnsafeCell::new(None));

/// Whether races are looked for.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Looks for races from now on, and tells them in the file that is made; if there is none, nothing is looked for.
pub fn begin(make: impl FnOnce() -> Option<()>) {
    arena::begin();
    arena::within(|| {
        if make().is_none() {
            return say("online detection is off: the races file cannot be created");
        }
        let mut detection = Detection { detector: Detector::new(), written: 0, is_blind: false };
        detection.tell(&MAGIC);
        // SAFETY: there is one thread.
        unsafe { *DETECTION.0.get() = Some(detection) };
        ON.store(true, Ordering::SeqCst);
    });
}

/// Room for a thread to know what was seen, of which nothing was so far; nowhere, if there is none.
pub(crate) fn nothing_seen() -> *mut Seen {
    let mut seen = std::ptr::null_mut();
    // SAFETY: the layout has a size. Most of it is never touched, and so it takes no memory: it must not be filled
    // here.
    with(|_| seen = unsafe { std::alloc::alloc_zeroed(Layout::new::<Seen>()) }.cast());
    seen
}

/// The thread needs that room no longer.
pub(crate) fn give_back(seen: *mut Seen) {
    if !seen.is_null() {
        // SAFETY: it was made above.
        with(|_| drop(unsafe { Box::from_raw(seen) }));
    }
}

/// The thread has made this access, and no handler of a signal can come in between. Says whether it would be nothing
/// new if it made it again, see [`Detector::steps`].
#[inline(always)]
pub fn access(thread: u32, site: u64, addr: u64, size: u8, writes: bool) -> bool {
    let _within = arena::enter();
    // SAFETY: it is the caller's turn, so no other thread is here, and the borrow ends with this call.
    let Some(detection) = (unsafe { &mut *DETECTION.0.get() }) else { return false };
    let is_known = detection.detector.access(thread, site, addr, size, writes);
    detection.tell_news();
    is_known
}

/// So many calls of the thread have ended, and then these were made; no handler of a signal can come in between.
pub fn calls(thread: u32, ended: u32, made: &[u64]) {
    let _within = arena::enter();
    // SAFETY: it is the caller's turn, so no other thread is here, and the borrow ends with this call.
    if let Some(detection) = unsafe { &mut *DETECTION.0.get() } {
        detection.detector.calls(thread, ended, made);
    }
}

/// The thread has done this.
pub fn steps(thread: u32, steps: &[ShortRecord]) {
    with(|detection| {
        detection.detector.steps(thread, steps);
        detection.tell_news();
    });
}

/// A module was loaded whose site table is this, at this address.
pub fn module(address: u64, table: &[u8]) {
    let language = SiteTable::language_of(table).unwrap_or_default();
    let sites = address..address.saturating_add(table.len() as u64);
    with(|detection| detection.detector.module(&sites, language));
}

/// The thread has done this.
pub fn record(thread: u32, record: &Record<'_>) {
    with(|detection| {
        detection.detector.record(thread, record);
        detection.tell_news();
    });
}

/// Tells how often each race was seen so far.
pub fn tell_counts() {
    with(|detection| {
        let counts = detection.detector.counts();
        if !counts.is_empty() {
            let counts = RacesEntry::Counts(counts.to_vec());
            detection.tell(&counts.encode());
        }
    });
}

/// The calling thread jumps out of a handler. If that has come in the midst of the detector, what this knows may be
/// half changed, and it looks at nothing any more.
pub fn jump_away() {
    if !arena::is_within() {
        return;
    }
    arena::leave();
    // SAFETY: it is the caller's turn, so no other thread is here. What is half changed is never touched again.
    let detection = unsafe { &mut *DETECTION.0.get() }.take();
    if let Some(mut detection) = detection.map(ManuallyDrop::new) {
        detection.give_up("the handler of a signal has jumped out of it");
    }
}

/// The process is a copy: what was found belongs to the original.
pub fn forget() {
    if ON.swap(false, Ordering::SeqCst) {
        // SAFETY: there is one thread. All that this points to goes at once.
        let _detection = ManuallyDrop::new(unsafe { (*DETECTION.0.get()).take() });
        RACES.give_up().into_iter().for_each(close);
        arena::forget();
    }
}

impl Detection {
    #[inline(always)]
    fn tell_news(&mut self) {
        if self.detector.has_news() || self.detector.is_blind() {
            self.tell_found();
        }
    }

    #[cold]
    fn tell_found(&mut self) {
        for race in self.detector.take_races() {
            self.tell(&RacesEntry::Race(race).encode());
        }
        if self.detector.is_blind() {
            self.give_up("there are too many threads, or they meet too often");
        }
    }

    fn give_up(&mut self, why: &str) {
        if !std::mem::replace(&mut self.is_blind, true) {
            self.tell(&RacesEntry::Blind.encode());
            say(&format!("online detection stops: {why}"));
        }
    }

    /// If that fails, nothing can be done about it: the log may not be writable either.
    fn tell(&mut self, bytes: &[u8]) {
        if file::may_grow(self.written, bytes.len()).is_ok()
            && let Some(file) = RACES.descriptor()
        {
            let _ = write_at(file, self.written, bytes);
            self.written += bytes.len();
        }
    }
}

/// A handler of a signal that jumps away would leave something in between.
fn with(act: impl FnOnce(&mut Detection)) {
    if !is_on() {
        return;
    }
    without_break_ins(|| {
        arena::within(|| {
            // SAFETY: it is the caller's turn, so no other thread is here, and the borrow ends with this call.
            if let Some(detection) = unsafe { &mut *DETECTION.0.get() } {
                act(detection);
            }
        });
    });
}
