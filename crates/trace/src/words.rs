//! What a thread does, in words.

use crate::{MemOrder, Names, Op, Value};

/// The operation as the end of a sentence that begins with a thread: `writes note = 1`.
pub fn words(op: Op, names: &Names) -> String {
    let var = |id| names.vars.name(id);
    let lock = |id| names.locks.name(id);
    let sem = |id| names.sems.name(id);
    let cond = |id| names.conds.name(id);
    let barrier = |id| names.barriers.name(id);
    let label = |id| names.labels.name(id);
    let thread = |id| names.threads.name(id);
    match op {
        Op::Read { var: x, value } => format!("reads {}{}", var(x), is(value, names)),
        Op::Write { var: x, value } => format!("writes {}{}", var(x), is(value, names)),
        Op::Load { var: x, value, order } => {
            format!("loads {}{} ({})", var(x), is(value, names), name(order))
        }
        Op::Store { var: x, value, order } => {
            format!("stores {}{} ({})", var(x), is(value, names), name(order))
        }
        Op::Rmw { var: x, read, written, order } => {
            let change = match (read, written) {
                (Some(read), Some(written)) => {
                    let [read, written] = [read, written].map(|value| value_words(&names.value_text(value)));
                    format!(" from {read} to {written}")
                }
                _ => String::new(),
            };
            format!("updates {}{change} ({})", var(x), name(order))
        }
        Op::Fence { order } => format!("memory fence ({})", name(order)),
        Op::Acquire(l) => format!("locks {}", lock(l)),
        Op::TryAcquire(l) => format!("takes {} at the first try", lock(l)),
        Op::TryAcquireShared(l) => format!("takes {} for reading at the first try", lock(l)),
        Op::Release(l) => format!("unlocks {}", lock(l)),
        Op::AcquireAgain(l) => format!("locks {} again", lock(l)),
        Op::ReleaseAgain(l) => format!("unlocks {} once", lock(l)),
        Op::AcquireShared(l) => format!("read-locks {}", lock(l)),
        Op::ReleaseShared(l) => format!("read-unlocks {}", lock(l)),
        Op::AcquireSharedAgain(l) => format!("read-locks {} again", lock(l)),
        Op::ReleaseSharedAgain(l) => format!("read-unlocks {} once", lock(l)),
        Op::TryAcquireFailed(l) => format!("cannot lock {}", lock(l)),
        Op::TryAcquireSharedFailed(l) => format!("cannot read-lock {}", lock(l)),
        Op::Fork(child) => format!("starts {}", thread(child)),
        Op::Join(child) => format!("joins {}", thread(child)),
        Op::Begin => "begins".to_string(),
        Op::End => "ends".to_string(),
        Op::Branch => "branches".to_string(),
        Op::SemInit { sem: s, permits } => format!("sets semaphore {} to {permits}", sem(s)),
        Op::SemWait(s) => format!("takes a permit of {}", sem(s)),
        Op::SemPost(s) => format!("gives a permit of {}", sem(s)),
        Op::Wait { cond: c, lock: l } => format!("waits for {}, unlocks {}", cond(c), lock(l)),
        Op::Woken { cond: c, lock: l } => format!("woken by {}, locks {}", cond(c), lock(l)),
        Op::WaitTimeout { cond: c, lock: l } => format!("stops waiting for {}, locks {}", cond(c), lock(l)),
        Op::Notify(c) => format!("notifies {}", cond(c)),
        Op::NotifyAll(c) => format!("notifies all at {}", cond(c)),
        Op::Arrive(b) => format!("arrives at barrier {}", barrier(b)),
        Op::Depart(b) => format!("leaves barrier {}", barrier(b)),
        Op::Alloc(x) => format!("gets memory {}", var(x)),
        Op::Free(x) => format!("frees {}", var(x)),
        Op::Enter(function) => format!("enters {}", label(function)),
        Op::Exit(function) => format!("leaves {}", label(function)),
        Op::Dummy(what) => format!("does {}", label(what)),
    }
}

fn is(value: Option<Value>, names: &Names) -> String {
    value.map(|value| format!(" = {}", value_words(&names.value_text(value)))).unwrap_or_default()
}

/// A value as people know it: what is too large for a count is an address, or a pattern of bits.
pub fn value_words(value: &str) -> String {
    match value.parse::<u64>() {
        Ok(large) if large > u64::from(u32::MAX) => format!("{large:#x}"),
        _ => value.to_string(),
    }
}

fn name(order: MemOrder) -> &'static str {
    match order {
        MemOrder::Relaxed | MemOrder::RelaxedC11 => "relaxed",
        MemOrder::Acquire => "acquire",
        MemOrder::Release => "release",
        MemOrder::AcqRel => "acq_rel",
        MemOrder::SeqCst => "seq_cst",
    }
}
