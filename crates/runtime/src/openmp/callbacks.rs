//! What the library tells its tool. The names and numbers are those of the interface (OMPT of OpenMP 5.1).
//!
//! Safety of all of them: the library passes its own memory, or null.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::SyncOp;

use super::words::{OpenMpWordUse, receive, send, word};
use super::{Data, Lookup, Region, Task, Team, keep, known, number_in};
use crate::interpose::as_function;
use crate::scheduler::{Helper, random};
use crate::turn::Turn;

type Any = *const c_void;

const BEGIN: c_int = 1;
const END: c_int = 2;

/// Kinds of synchronisation.
const BARRIERS: [c_int; 5] = [1, 2, 3, 4, 8];
const TASKWAIT: c_int = 5;
const TASKGROUP: c_int = 6;
/// The end of a region.
const ENDS: [c_int; 2] = [9, 10];

/// Kinds of work.
const SINGLE_EXECUTOR: c_int = 3;
const SINGLE_OTHER: c_int = 4;
const LOOPS: [c_int; 6] = [1, 2, 10, 11, 12, 13];
const DYNAMIC: [c_int; 4] = [1, 11, 12, 13];

/// Kinds of locks.
const TESTS: [c_int; 2] = [2, 4];
const ORDERED: c_int = 7;

/// Kinds of tasks.
const INITIAL: c_int = 1;
const EXPLICIT: c_int = 4 | 8 | 0x10;
const UNDEFERRED: c_int = 0x0800_0000;
const UNTIED: c_int = 0x1000_0000;

/// What has become of the task before.
const COMPLETE: c_int = 1;
const CANCEL: c_int = 3;
const DETACH: c_int = 4;
const EARLY_FULFILL: c_int = 5;
const LATE_FULFILL: c_int = 6;
const TASKWAIT_COMPLETE: c_int = 8;

/// Kinds of dependences between iterations.
const SOURCE: u32 = 5;
const SINK: u32 = 6;

static ARE_SET: AtomicBool = AtomicBool::new(false);
static TASK_MEMORY: AtomicUsize = AtomicUsize::new(0);

/// Whether the library has a tool.
pub(super) fn are_set() -> bool {
    ARE_SET.load(Ordering::Relaxed)
}

/// Says whether the library has all that is needed.
pub(super) fn set_all(lookup: Lookup) -> bool {
    type Set = unsafe extern "C" fn(c_int, Any) -> c_int;
    // SAFETY: the name ends with a zero.
    let find = |name: &CStr| unsafe { lookup(name.as_ptr()) };
    let set = find(c"ompt_set_callback");
    if set.is_null() {
        return false;
    }
    let set: Set = as_function(set);
    TASK_MEMORY.store(find(c"ompt_get_task_memory") as usize, Ordering::Relaxed);
    let callbacks = [
        (3, parallel_begin as Any),
        (4, parallel_end as Any),
        (5, task_create as Any),
        (6, task_schedule as Any),
        (7, implicit_task as Any),
        (16, sync_region_wait as Any),
        (17, mutex_released as Any),
        (18, dependences as Any),
        (20, work as Any),
        (23, sync_region as Any),
        (26, mutex_acquire as Any),
        (27, mutex_acquired as Any),
        (32, dispatch as Any),
    ];
    const NEVER: c_int = 1;
    // SAFETY: the callbacks have the signatures of the interface and live as long as the library.
    let is_set = callbacks.into_iter().all(|(number, callback)| unsafe { set(number, callback) } > NEVER);
    ARE_SET.store(is_set, Ordering::Relaxed);
    is_set
}

extern "C" fn parallel_begin(_: Data, _: Any, region: Data, _: c_uint, _: c_int, _: Any) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    let number = known.number();
    known.regions.insert(number, Region::default());
    keep(region, number);
    send(&turn, word(OpenMpWordUse::Fork, &[number]), 1);
}

extern "C" fn parallel_end(region: Data, _: Data, _: c_int, _: Any) {
    let Some((turn, number)) = Turn::alone().zip(number_in(region)) else { return };
    let mut known = known();
    let Some(region) = known.regions.get(&number) else { return };
    let ended = region.ended.clone();
    if (1..region.size).any(|index| !ended.contains(&index)) {
        // Some thread has come to the end in a way that is not known.
        turn.fence(turn.me.site.get());
    }
    for index in ended {
        receive(&turn, word(OpenMpWordUse::Join, &[number, index.into()]), 1);
    }
    known.end_tasks(&turn, number);
    known.regions.remove(&number);
}

extern "C" fn implicit_task(
    endpoint: c_int,
    region: Data,
    task: Data,
    size: c_uint,
    index: c_uint,
    flags: c_int,
) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    let thread = turn.me.id;
    if endpoint == END {
        let team = known.teams.get_mut(&thread).and_then(Vec::pop);
        if let Some(team) = team {
            known.end_region(&turn, team.region, team.index);
        }
        if let Some(number) = number_in(task) {
            known.tasks.remove(&number);
        }
        return;
    }
    let own = known.number();
    known.tasks.insert(own, Task::default());
    keep(task, own);
    let number = number_in(region).filter(|number| known.regions.contains_key(number));
    let (region, size) = match number {
        Some(number) => (number, size),
        // What a thread does outside of all regions is one of its own: it can wait for tasks, too.
        None if flags & INITIAL != 0 => {
            let number = known.number();
            known.regions.insert(number, Region::default());
            (number, 1)
        }
        None => (0, size),
    };
    let team = Team { region, index, size, barriers: 0, singles: 0, loops: 0, is_dynamic: false };
    known.teams.entry(thread).or_default().push(team);
    if let Some(region) = known.regions.get_mut(&region) {
        region.size = size;
    }
    if number.is_some() && index != 0 {
        receive(&turn, word(OpenMpWordUse::Fork, &[region]), 1);
    }
}

impl super::OpenMpState {
    /// A thread has come to the end of a region.
    fn end_region(&mut self, turn: &Turn, number: u64, index: u32) {
        let Some(region) = self.regions.get_mut(&number).filter(|_| index != 0) else { return };
        if region.ended.insert(index) {
            send(turn, word(OpenMpWordUse::Join, &[number, index.into()]), 1);
        }
    }

    /// A thread comes to a barrier.
    fn arrive(&mut self, turn: &Turn) {
        let Some(team) = self.team(turn.me.id).filter(|team| team.size > 1) else { return };
        team.barriers += 1;
        send(turn, word(OpenMpWordUse::Arrive, &[team.region, team.index.into()]), team.barriers);
    }

    /// A thread leaves a barrier.
    fn depart(&mut self, turn: &Turn) {
        let Some(team) = self.team(turn.me.id) else { return };
        let (number, own, size, barrier) = (team.region, team.index, team.size, team.barriers);
        if size <= 1 {
            // Helpers of the library may have run the tasks that it has waited for.
            return self.end_tasks(turn, number);
        }
        let opened = self.regions.get_mut(&number).map(|region| &mut region.opened);
        let opened = opened.map_or(0, |opened| std::mem::replace(opened, barrier.max(*opened)));
        if opened >= barrier {
            return receive(turn, word(OpenMpWordUse::Open, &[number]), barrier);
        }
        for index in (0..size).filter(|&index| index != own) {
            receive(turn, word(OpenMpWordUse::Arrive, &[number, index.into()]), barrier);
        }
        self.end_tasks(turn, number);
        send(turn, word(OpenMpWordUse::Open, &[number]), barrier);
    }
}

extern "C" fn sync_region(kind: c_int, endpoint: c_int, _: Data, task: Data, _: Any) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    match (kind, endpoint) {
        _ if BARRIERS.contains(&kind) && endpoint == BEGIN => known.arrive(&turn),
        _ if BARRIERS.contains(&kind) => known.depart(&turn),
        _ if ENDS.contains(&kind) && endpoint == BEGIN => {
            if let Some((number, index)) = known.team(turn.me.id).map(|team| (team.region, team.index)) {
                known.end_region(&turn, number, index);
            }
        }
        (TASKGROUP, BEGIN) => {
            if let Some(task) = number_in(task) {
                known.begin_group(task);
            }
        }
        _ => {}
    }
    if endpoint == BEGIN {
        drop(known);
        turn.meeting();
    }
}

/// Reductions of tasks are made before the end of the region that waits for them, but after the wait.
extern "C" fn sync_region_wait(kind: c_int, endpoint: c_int, _: Data, task: Data, _: Any) {
    let Some((turn, task)) = Turn::alone().zip(number_in(task)).filter(|_| endpoint == END) else { return };
    match kind {
        TASKWAIT => known().wait_for_children(&turn, task),
        TASKGROUP => known().end_group(&turn, task),
        _ => {}
    }
}

extern "C" fn task_create(parent: Data, _: Any, task: Data, flags: c_int, _: c_int, _: Any) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    if flags & EXPLICIT == 0 {
        let number = known.number();
        known.tasks.insert(number, Task::default());
        return keep(task, number);
    }
    let region = known.team(turn.me.id).map_or(0, |team| team.region);
    let parent = number_in(parent).unwrap_or(0);
    let number = known.create(&turn, parent, region, flags & UNDEFERRED != 0);
    if flags & UNTIED != 0
        && let Some(task) = known.tasks.get_mut(&number)
    {
        task.is_untied = true;
    }
    keep(task, number);
    drop(known);
    turn.meeting();
}

extern "C" fn task_schedule(before: Data, status: c_int, next: Data) {
    let Some(turn) = Turn::alone() else { return };
    if let Some(before) = number_in(before) {
        let mut known = known();
        match status {
            COMPLETE | CANCEL | LATE_FULFILL => known.end_task(&turn, before),
            DETACH => known.detach(&turn, before),
            EARLY_FULFILL => known.fulfil(&turn, before),
            TASKWAIT_COMPLETE => known.wait_for_dependences(&turn, before),
            _ => known.stop_task(&turn, before),
        }
    }
    if let Some(next) = number_in(next).filter(|_| status != EARLY_FULFILL && status != LATE_FULFILL) {
        begin_task(&turn, next);
    }
}

/// Tasks that one thread runs are ordered, so threads shall share them: now and then, one that has taken a task lets
/// others take the next ones first.
fn begin_task(turn: &Turn, next: u64) {
    if known().is_for_all(turn.me.id, next) && random(2) == 0 {
        turn.let_all_go_first();
    }
    let mut known = known();
    let block = known.begin_task(turn, next).then(memory_of_task).flatten();
    if let Some((at, bytes)) = block.filter(|&(at, _)| !known.blocks.remove(&at)) {
        turn.log_memory(SyncOp::Part, at, bytes);
    }
}

/// The memory of the task that has just begun. The library uses it again and again.
fn memory_of_task() -> Option<(usize, usize)> {
    type Ask = unsafe extern "C" fn(*mut usize, *mut usize, c_int) -> c_int;
    let ask = TASK_MEMORY.load(Ordering::Relaxed);
    if ask == 0 {
        return None;
    }
    let ask: Ask = as_function(ask as *mut c_void);
    let (mut at, mut bytes) = (0, 0);
    // SAFETY: both places are ours.
    unsafe { ask(&mut at, &mut bytes, 0) };
    (at != 0 && bytes != 0).then_some((at, bytes))
}

/// `ompt_dependence_t`
#[repr(C)]
struct Dependence {
    place: u64,
    kind: u32,
}

extern "C" fn dependences(task: Data, list: *const Dependence, count: c_int) {
    let Some((turn, task)) = Turn::alone().zip(number_in(task)).filter(|_| !list.is_null()) else { return };
    // SAFETY: the library passes so many.
    let list = unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) };
    let mut known = known();
    if let Some(kind @ (SOURCE | SINK)) = list.first().map(|first| first.kind) {
        let Some((region, loops)) = known.team(turn.me.id).map(|team| (team.region, team.loops)) else {
            return;
        };
        let parts: Vec<u64> =
            [region, loops].into_iter().chain(list.iter().map(|entry| entry.place)).collect();
        let addr = word(OpenMpWordUse::Iteration, &parts);
        if kind == SOURCE {
            known.sent.insert(addr);
            send(&turn, addr, 1);
        } else if known.sent.contains(&addr) {
            receive(&turn, addr, 1);
        }
        return;
    }
    for entry in list {
        known.depend(task, entry.place, entry.kind);
    }
}

extern "C" fn work(kind: c_int, endpoint: c_int, _: Data, _: Data, _: u64, _: Any) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    let Some(team) = known.team(turn.me.id).filter(|team| team.size > 1) else { return };
    if matches!(kind, SINGLE_EXECUTOR | SINGLE_OTHER) && endpoint != END {
        team.singles += 1;
        let addr = word(OpenMpWordUse::Single, &[team.region, team.singles]);
        if kind == SINGLE_EXECUTOR {
            known.come_by(&turn, addr, MemoryOrder::Relaxed);
        } else {
            known.look_at(&turn, addr);
        }
    } else if LOOPS.contains(&kind) && endpoint == BEGIN {
        team.loops += 1;
        team.is_dynamic = DYNAMIC.contains(&kind);
    } else if LOOPS.contains(&kind) && endpoint == END && std::mem::take(&mut team.is_dynamic) {
        let addr = word(OpenMpWordUse::Chunks, &[team.region, team.loops]);
        known.look_at(&turn, addr);
    }
}

extern "C" fn dispatch(_: Data, _: Data, _: c_int, _: u64) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    let Some(team) = known.team(turn.me.id).filter(|team| team.size > 1 && team.is_dynamic) else { return };
    let addr = word(OpenMpWordUse::Chunks, &[team.region, team.loops]);
    known.come_by(&turn, addr, MemoryOrder::Relaxed);
    drop(known);
    turn.meeting();
}

/// The thread waits here for its turn to have the lock, so that it does not wait in a loop of the library.
extern "C" fn mutex_acquire(kind: c_int, _: c_uint, _: c_uint, lock: usize, _: Any) {
    let Some(turn) = Turn::alone().filter(|_| !TESTS.contains(&kind)) else { return };
    while known().held.get(&lock).is_some_and(|&holder| holder != turn.me.id) {
        turn.wait(lock, None, Helper::Threads);
    }
}

extern "C" fn mutex_acquired(kind: c_int, lock: usize, _: Any) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    known.held.insert(lock, turn.me.id);
    if kind == ORDERED {
        let Some((region, loops)) = known.team(turn.me.id).map(|team| (team.region, team.loops)) else {
            return;
        };
        known.come_by(&turn, word(OpenMpWordUse::Ordered, &[region, loops]), MemoryOrder::AcqRel);
    }
}

extern "C" fn mutex_released(kind: c_int, lock: usize, _: Any) {
    let Some(turn) = Turn::alone() else { return };
    let mut known = known();
    if kind == ORDERED
        && let Some((region, loops)) = known.team(turn.me.id).map(|team| (team.region, team.loops))
    {
        known.come_by(&turn, word(OpenMpWordUse::Ordered, &[region, loops]), MemoryOrder::AcqRel);
    }
    known.release(lock);
}
