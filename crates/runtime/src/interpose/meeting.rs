//! Barriers and semaphores.

use std::ffi::{c_int, c_uint, c_void};

use foretell_wire::record::SyncOp;
use libc::timespec;

use super::lock::by_unrecorded;
use super::time::{deadline, is_refused};
use super::upkeep::{ObjectKind, change, note_use};
use super::{original, pass_on};
use crate::scheduler::{Helper, WakeReason, wake_any, wake_waiters};
use crate::shared;
use crate::spin::Spin;
use crate::system::{errno, set_errno};
use crate::thread::{AsNative, me};
use crate::turn::Turn;

type Object = *mut c_void;

/// A barrier of the program; the original is not touched while recording.
struct InterposedBarrier {
    address: usize,
    /// Another one each time that a barrier is made.
    number: u64,
    /// How many threads cross it together.
    needed: usize,
    /// Those who have come so far.
    waiting: Vec<u32>,
}

/// All barriers. Only a thread that is alone touches them, so the lock is always free.
static BARRIERS: Spin<Vec<InterposedBarrier>> = Spin::new(Vec::new());

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_barrier_init(
    barrier: Object,
    how: *const c_void,
    count: c_uint,
) -> c_int {
    let original = original!(c"pthread_barrier_init": fn(Object, *const c_void, c_uint) -> c_int);
    let result = pass_on!(original(barrier, how, count));
    if let Some(_alone) = Turn::alone()
        && result == 0
    {
        let address = barrier as usize;
        BARRIERS.with(|all| {
            let number = all.iter().map(|known| known.number + 1).max().unwrap_or(0);
            all.retain(|known| known.address != address);
            all.push(InterposedBarrier { address, number, needed: count as usize, waiting: Vec::new() });
        });
    }
    result
}

/// A thread comes to a barrier: the number of that, if it is known, and all that leave it now, if the thread is the
/// last one to come.
fn arrive(all: &mut [InterposedBarrier], address: usize, thread: u32) -> Option<(u64, Option<Vec<u32>>)> {
    let known = all.iter_mut().find(|known| known.address == address)?;
    known.waiting.push(thread);
    let is_last = known.waiting.len() >= known.needed;
    Some((known.number, is_last.then(|| std::mem::take(&mut known.waiting))))
}

/// The last one to come opens the barrier, and all leave in one step: a thread that comes back at once finds it
/// closed.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_barrier_wait(barrier: Object) -> c_int {
    let original = original!(c"pthread_barrier_wait": fn(Object) -> c_int);
    // Who looks at the result learns whether it was the last one to come.
    let asked = me().is_none_or(|me| !me.native().unasked.replace(false));
    let Some(turn) = Turn::alone() else { return pass_on!(original(barrier)) };
    turn.meeting_at(barrier as usize);
    let address = barrier as usize;
    let is_shared = shared::contains(address, 1);
    let arrived = if is_shared { None } else { BARRIERS.with(|all| arrive(all, address, turn.me.id)) };
    let Some((number, leaving)) = arrived else {
        // Unrecorded threads may come to it.
        turn.fence(turn.me.site.get());
        let result = turn.away(|| pass_on!(original(barrier)));
        turn.fence(turn.me.site.get());
        return result;
    };
    turn.log_sync(SyncOp::Arrive, address, 2 * number + u64::from(asked));
    let Some(leaving) = leaving else {
        turn.wait(address, None, Helper::Waker);
        return 0;
    };
    for thread in leaving {
        turn.log_sync(SyncOp::Depart, address, thread.into());
    }
    wake_waiters(address, usize::MAX);
    libc::PTHREAD_BARRIER_SERIAL_THREAD
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_init(semaphore: Object, shared: c_int, permits: c_uint) -> c_int {
    let original = original!(c"sem_init": fn(Object, c_int, c_uint) -> c_int);
    let result = change(semaphore, ObjectKind::Semaphore, || pass_on!(original(semaphore, shared, permits)));
    if let Some(turn) = Turn::alone()
        && result == 0
    {
        turn.log_sync(SyncOp::SemInit, semaphore as usize, u64::from(permits));
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_destroy(semaphore: Object) -> c_int {
    let original = original!(c"sem_destroy": fn(Object) -> c_int);
    change(semaphore, ObjectKind::Semaphore, || pass_on!(original(semaphore)))
}

fn try_semaphore(semaphore: Object) -> c_int {
    pass_on!(original!(c"sem_trywait": fn(Object) -> c_int)(semaphore))
}

fn take_permit(turn: Turn, semaphore: Object, deadline: Option<u64>) -> c_int {
    note_use(&turn, semaphore, ObjectKind::Semaphore);
    turn.meeting_at(semaphore as usize);
    let mut turn = turn.may_end();
    let mut out_of_time = false;
    while try_semaphore(semaphore) != 0 {
        if errno() != libc::EAGAIN {
            return -1;
        }
        if out_of_time {
            no_permit(&turn);
            set_errno(libc::ETIMEDOUT);
            return -1;
        }
        match turn.wait_or_be_interrupted(semaphore as usize, deadline, Helper::Anybody) {
            WakeReason::Woken => {}
            WakeReason::TimedOut => out_of_time = true,
            WakeReason::Cancelled => turn = turn.end_if_cancelled(),
            WakeReason::Interrupted => {
                set_errno(libc::EINTR);
                return -1;
            }
        }
    }
    turn.log_sync(SyncOp::SemWait, semaphore as usize, 0);
    0
}

fn take_permit_until(turn: Turn, semaphore: Object, clock: c_int, time: *const timespec) -> c_int {
    if is_refused(clock, time) {
        set_errno(libc::EINVAL);
        return -1;
    }
    take_permit(turn, semaphore, Some(deadline(clock, time)))
}

/// That there was no permit tells about all who took one: nothing can be reordered around that.
fn no_permit(turn: &Turn) {
    turn.fence(turn.me.site.get());
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_wait(semaphore: Object) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"sem_wait": fn(Object) -> c_int)(semaphore));
    };
    take_permit(turn, semaphore, None)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_timedwait(semaphore: Object, time: *const timespec) -> c_int {
    let Some(turn) = Turn::alone() else {
        return pass_on!(original!(c"sem_timedwait": fn(Object, *const timespec) -> c_int)(semaphore, time));
    };
    take_permit_until(turn, semaphore, libc::CLOCK_REALTIME, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_clockwait(semaphore: Object, clock: c_int, time: *const timespec) -> c_int {
    let Some(turn) = Turn::alone() else {
        let original = original!(c"sem_clockwait": fn(Object, c_int, *const timespec) -> c_int);
        return pass_on!(original(semaphore, clock, time));
    };
    take_permit_until(turn, semaphore, clock, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_trywait(semaphore: Object) -> c_int {
    let Some(turn) = Turn::alone() else { return try_semaphore(semaphore) };
    note_use(&turn, semaphore, ObjectKind::Semaphore);
    turn.meeting_at(semaphore as usize);
    let result = try_semaphore(semaphore);
    if result == 0 {
        turn.log_sync(SyncOp::SemWait, semaphore as usize, 0);
    } else if errno() == libc::EAGAIN {
        no_permit(&turn);
        set_errno(libc::EAGAIN);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_getvalue(semaphore: Object, value: *mut c_int) -> c_int {
    let result = pass_on!(original!(c"sem_getvalue": fn(Object, *mut c_int) -> c_int)(semaphore, value));
    if let Some(turn) = Turn::alone() {
        no_permit(&turn);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sem_post(semaphore: Object) -> c_int {
    let post = || pass_on!(original!(c"sem_post": fn(Object) -> c_int)(semaphore));
    let Some(turn) = Turn::alone() else { return by_unrecorded(post) };
    note_use(&turn, semaphore, ObjectKind::Semaphore);
    turn.due();
    let result = post();
    if result == 0 {
        turn.log_sync(SyncOp::SemPost, semaphore as usize, 0);
        wake_any(semaphore as usize);
        turn.meeting();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_come_leaves_with_all_others() {
        let mut all = vec![InterposedBarrier { address: 8, number: 3, needed: 2, waiting: Vec::new() }];
        assert_eq!(arrive(&mut all, 16, 0), None, "nobody has made this one");
        assert_eq!(arrive(&mut all, 8, 4), Some((3, None)));
        assert_eq!(arrive(&mut all, 8, 5), Some((3, Some(vec![4, 5]))));
        assert_eq!(arrive(&mut all, 8, 4), Some((3, None)), "it is closed again");
    }
}
