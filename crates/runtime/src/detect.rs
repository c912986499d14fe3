//! Looking for races while the program runs, instead of recording: whatever threads have written to their chunks is shown to a
//! detector when their turn ends, and forgotten.
//!
//! Nothing else changes. The same seed makes the same choices, so a run in which something was found can be had again with a recording.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_online::Detector;
use foretell_wire::races::{Entry, MAGIC};

use crate::arena;
use crate::file;
use crate::system::{close, say, without_signals, write_all};

static ON: AtomicBool = AtomicBool::new(false);

struct Detection {
    detector: Detector,
    /// Where races are told, as soon as they are found.
    file: c_int,
    /// How long that is.
    written: usize,
    /// It was told that nothing is looked at any more.
    is_blind: bool,
}

/// To be touched by whose turn it is.
struct DetectionCell(UnsafeCell<Option<Detection>>);

// See above.
unsafe impl Sync for DetectionCell {}

static DETECTION: DetectionCell = DetectionCell(UnsafeCell::new(None));

/// Whether races are looked for.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Looks for races from now on, and tells them in the file that is opened; if there is none, nothing is looked for.
pub(crate) fn begin(open: impl FnOnce() -> Option<c_int>) {
    arena::begin();
    arena::within(|| {
        let Some(file) = open() else { return say("races are not looked for: there is no file for them") };
        let mut detection = Detection { detector: Detector::new(), file, written: 0, is_blind: false };
        detection.tell(&MAGIC);
        // There is one thread.
        unsafe { *DETECTION.0.get() = Some(detection) };
        ON.store(true, Ordering::SeqCst);
    });
}

/// The records of the thread begin a new chunk.
pub(crate) fn begin_chunk(thread: u32) {
    with(|detection| detection.detector.begin_chunk(thread));
}

/// The thread has done this.
pub(crate) fn show(thread: u32, records: &[u8]) {
    with(|detection| {
        if detection.detector.feed(thread, records).is_err() {
            detection.give_up("what was recorded cannot be read");
        }
        for race in detection.detector.take_races() {
            detection.tell(&Entry::Race(race).encode());
        }
        if detection.detector.is_blind() {
            detection.give_up("there are too many threads, or they meet too often");
        }
    });
}

/// Tells how often each race was seen so far.
pub(crate) fn tell_counts() {
    with(|detection| {
        let counts = detection.detector.counts();
        if !counts.is_empty() {
            let counts = Entry::Counts(counts.to_vec());
            detection.tell(&counts.encode());
        }
    });
}

/// The process is a copy: what was found belongs to the original.
pub(crate) fn forget() {
    if ON.swap(false, Ordering::SeqCst) {
        // There is one thread. All that this points to goes at once.
        let detection = std::mem::ManuallyDrop::new(unsafe { (*DETECTION.0.get()).take() });
        if let Some(detection) = &*detection {
            close(detection.file);
        }
        arena::forget();
    }
}

impl Detection {
    fn give_up(&mut self, why: &str) {
        if !std::mem::replace(&mut self.is_blind, true) {
            self.tell(&Entry::Blind.encode());
            say(&format!("races are not looked for any more: {why}"));
        }
    }

    /// If that fails, there is nobody to tell: the log may not be writable either.
    fn tell(&mut self, bytes: &[u8]) {
        if file::may_grow(self.written, bytes.len()).is_ok() {
            let _ = write_all(self.file, bytes);
            self.written += bytes.len();
        }
    }
}

/// A handler of a signal that jumps away would leave something in between.
fn with(act: impl FnOnce(&mut Detection)) {
    if !is_on() {
        return;
    }
    without_signals(|| {
        arena::within(|| {
            // It is the caller's turn.
            if let Some(detection) = unsafe { &mut *DETECTION.0.get() } {
                act(detection);
            }
        });
    });
}
