//! Monitors: who holds them, as far as code with hooks goes, and who waits for what in them. A thread first gets a
//! monitor here, then from the virtual machine, which never makes it wait then.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use foretell_turns::scheduler::{Helper, WakeReason, wake_any, wake_waiters};
use foretell_turns::turn::Turn;
use foretell_wire::record::SyncOp;

use crate::jni::{Jni, Object};
use crate::objects;
use crate::thread::{AsJava, Java};

#[derive(Default)]
struct Monitor {
    /// Who holds it, and how often.
    holder: Option<(u32, u32)>,
    /// Who waits to be notified, the first one first.
    waiting: VecDeque<&'static Java>,
}

static MONITORS: Mutex<Option<HashMap<u64, Monitor>>> = Mutex::new(None);

/// Does something with a monitor, of which nothing is kept that no thread holds or waits in.
fn with<R>(address: u64, act: impl FnOnce(&mut Monitor) -> R) -> R {
    let mut all = MONITORS.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    let monitor = all.entry(address).or_default();
    let result = act(monitor);
    if monitor.holder.is_none() && monitor.waiting.is_empty() {
        all.remove(&address);
    }
    result
}

fn place(address: u64) -> usize {
    usize::try_from(address).unwrap_or(usize::MAX)
}

/// How often the thread holds the monitor.
fn depth(address: u64, thread: u32) -> u32 {
    with(address, |monitor| {
        monitor.holder.filter(|&(holder, _)| holder == thread).map_or(0, |(_, depth)| depth)
    })
}

/// Gets the monitor so often, once no other thread has it.
fn take(turn: &Turn, address: u64, times: u32) {
    loop {
        let is_taken = with(address, |monitor| match monitor.holder {
            None => {
                monitor.holder = Some((turn.me.id, times));
                true
            }
            Some(_) => false,
        });
        if is_taken {
            return;
        }
        turn.wait_for_lock(place(address), None, SyncOp::TryFailed);
    }
}

/// The thread is about to enter the monitor of an object.
pub(crate) fn lock(jni: Jni, turn: &Turn, object: Object) {
    lock_at(turn, objects::address(jni, turn, object));
}

/// The same for the object at this address.
pub(crate) fn lock_at(turn: &Turn, address: u64) {
    let is_inner = with(address, |monitor| match &mut monitor.holder {
        Some((holder, depth)) if *holder == turn.me.id => {
            *depth += 1;
            true
        }
        _ => false,
    });
    if is_inner {
        return;
    }
    turn.meeting_at_lock(place(address));
    take(turn, address, 1);
    turn.log_sync(SyncOp::Lock, place(address), 0);
}

/// The thread has left the monitor of an object.
pub(crate) fn unlock(turn: &Turn, object: Object) {
    if let Some(address) = objects::known(object) {
        unlock_at(turn, address);
    }
}

/// The same for the object at this address.
pub(crate) fn unlock_at(turn: &Turn, address: u64) {
    match depth(address, turn.me.id) {
        0 => {}
        1 => {
            turn.due();
            with(address, |monitor| monitor.holder = None);
            turn.log_sync(SyncOp::Unlock, place(address), 0);
            wake_any(place(address));
            turn.meeting();
        }
        deeper => with(address, |monitor| monitor.holder = Some((turn.me.id, deeper - 1))),
    }
}

/// How a thread comes back from waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waited {
    /// It was notified, or its time was over.
    Over,
    /// It was interrupted.
    Interrupted,
    /// It does not hold the monitor, as far as is known here.
    NotHeld,
}

/// Waits in a monitor that the thread holds: gives it up, and gets it back.
pub(crate) fn wait(jni: Jni, turn: &Turn, object: Object, deadline: Option<u64>) -> Waited {
    let java = turn.me.java();
    let address = objects::known(object).unwrap_or(0);
    let depth = depth(address, turn.me.id);
    if depth == 0 {
        return Waited::NotHeld;
    }
    turn.meeting_at(place(address));
    turn.log_sync(SyncOp::Wait, place(address), address);
    java.is_notified.set(false);
    java.is_interrupted.set(false);
    java.is_interruptible.set(true);
    with(address, |monitor| {
        monitor.holder = None;
        monitor.waiting.push_back(java);
    });
    let mut times = 0;
    while jni.exit_monitor(object) == 0 && !jni.forget_exception() {
        times += 1;
        if times == depth {
            break;
        }
    }
    wake_any(place(address));
    let mut reason = WakeReason::Woken;
    while !java.is_notified.get() && !java.is_interrupted.get() && reason != WakeReason::TimedOut {
        reason = turn.wait(java.place(), deadline, Helper::Waker);
    }
    java.is_interruptible.set(false);
    with(address, |monitor| monitor.waiting.retain(|other| other.id != java.id));
    take(turn, address, depth);
    for _ in 0..times {
        jni.enter_monitor(object);
    }
    if java.is_notified.get() {
        turn.log_sync(SyncOp::Woken, place(address), address);
        return Waited::Over;
    }
    turn.log_sync(SyncOp::TimedOut, place(address), address);
    if java.is_interrupted.get() {
        turn.fence(turn.me.site.get());
        return Waited::Interrupted;
    }
    Waited::Over
}

/// The thread, which holds the monitor, notifies one of those who wait in it, or all.
pub(crate) fn notify(turn: &Turn, object: Object, is_all: bool) {
    let Some(address) = objects::known(object) else { return };
    if depth(address, turn.me.id) == 0 {
        return;
    }
    turn.meeting_at(place(address));
    let op = if is_all { SyncOp::NotifyAll } else { SyncOp::Notify };
    turn.log_sync(op, place(address), 0);
    let count = if is_all { usize::MAX } else { 1 };
    let chosen: Vec<&Java> =
        with(address, |monitor| monitor.waiting.drain(..count.min(monitor.waiting.len())).collect());
    for thread in chosen {
        thread.is_notified.set(true);
        wake_waiters(thread.place(), 1);
    }
}
