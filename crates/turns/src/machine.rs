//! What the recorder of a machine brings along: the few places where native programs and others differ.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::thread::Thread;

/// The differences, as functions. Most are called when a thread hands over or waits; none where accesses are recorded.
pub struct Machine {
    /// Whether the thread keeps its turn where it could hand over.
    pub keeps_turn: fn(&Thread) -> bool,
    /// Whether the calling thread allows just now to be cancelled.
    pub allows_cancellation: fn() -> bool,
    /// Ends the calling thread, which was cancelled and allows that.
    pub end_cancelled: fn(&'static Thread),
    /// Does something out of our code, where the calling thread may be ended at any moment.
    pub do_cancellable: fn(&mut dyn FnMut()),
    /// Who there is beside the recorded threads. The first argument says whether the kernel knows one of them by a
    /// number, the second how many of them have not begun to run and have none.
    pub others: fn(&dyn Fn(i32) -> bool, usize) -> Others,
    /// Whether a function with this name belongs to a library that all threads pass through.
    pub is_of_library: fn(&str) -> bool,
}

/// Who may release what a recorded thread waits for, without being recorded.
#[derive(Clone, Copy, Debug)]
pub struct Others {
    /// Threads of this process that are not recorded, or are about to end.
    pub threads: bool,
    /// Handlers of signals that may come at any time.
    pub handlers: bool,
}

/// A machine without threads that are cancelled, and on which all threads are recorded.
static PLAIN: Machine = Machine {
    keeps_turn: |_| false,
    allows_cancellation: || false,
    end_cancelled: |_| {},
    do_cancellable: |act| act(),
    others: |_, _| Others { threads: false, handlers: false },
    is_of_library: |_| false,
};

static MACHINE: AtomicPtr<Machine> = AtomicPtr::new(&raw const PLAIN as *mut Machine);

/// Says which machine it is, before there is a second thread.
pub fn set(machine: &'static Machine) {
    MACHINE.store(std::ptr::from_ref(machine).cast_mut(), Ordering::Relaxed);
}

/// The machine that this is.
pub(crate) fn machine() -> &'static Machine {
    // SAFETY: it is only set to what lives as long as the process.
    unsafe { &*MACHINE.load(Ordering::Relaxed) }
}
