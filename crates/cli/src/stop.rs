//! Ctrl-C: the first press asks for what is known so far, the second one kills.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// What a shell reports for a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// From now on Ctrl-C does not end the program at once.
pub(crate) fn listen() -> Result<(), Failure> {
    let pressed = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    };
    ctrlc::set_handler(pressed).map_err(|error| Failure::Usage(format!("cannot listen for Ctrl-C: {error}")))
}

/// Whether everything is to stop.
pub(crate) fn is_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// For libraries that look for themselves.
pub(crate) fn flag() -> &'static AtomicBool {
    &STOP
}
