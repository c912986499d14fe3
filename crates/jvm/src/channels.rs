//! What threads pass on by objects of the library. A thread that sends writes a variable of its own; who receives reads
//! those of all who have sent, and depends on what they sent. So senders have no order among each other.
//!
//! Pools of threads run tasks: what was done before a task was handed in happens before the task, and the task happens
//! before what is done after it was waited for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;
use rustc_hash::FxHashMap;

use crate::agent::tool;
use crate::content;
use crate::jdk;
use crate::jni::{Id, Jni};
use crate::objects;
use crate::thread::AsJava;

const SIZE: u8 = 8;

/// Where tasks are handed in, where they are taken, and where their ends are told: below all objects.
const POOL: u64 = objects::FIRST - 32;
const TAKEN: u64 = objects::FIRST - 48;
const ENDS: u64 = objects::FIRST - 64;

/// A thread that has sent: its number, its variable, and what that holds.
type Sender = (u32, u64, u64);

static SENDERS: Mutex<Option<FxHashMap<u64, Vec<Sender>>>> = Mutex::new(None);

fn with<R>(channel: u64, act: impl FnOnce(&mut Vec<Sender>) -> R) -> R {
    let mut all = SENDERS.lock().unwrap_or_else(PoisonError::into_inner);
    act(all.get_or_insert_default().entry(channel).or_default())
}

/// The thread passes on what it has done so far.
pub(crate) fn send(turn: &Turn, channel: u64) {
    turn.due();
    let me = turn.me.id;
    let (addr, value) = with(channel, |senders| {
        let index = senders.iter().position(|&(thread, ..)| thread == me).unwrap_or_else(|| {
            senders.push((me, objects::take(SIZE.into()), 0));
            senders.len() - 1
        });
        senders[index].2 += 1;
        (senders[index].1, senders[index].2)
    });
    let site = turn.me.site.get();
    turn.log(&Record::AtomicStore { site, addr, size: SIZE, value, order: MemoryOrder::Release });
}

/// The thread depends on what was sent so far.
pub(crate) fn receive(turn: &Turn, channel: u64) {
    let (site, order) = (turn.me.site.get(), MemoryOrder::Acquire);
    for (_, addr, value) in with(channel, |senders| senders.clone()) {
        turn.log(&Record::AtomicLoad { site, addr, size: SIZE, value, order });
    }
    turn.log_branch(site, None);
}

/// The thread hands a task to a pool.
pub(crate) fn submit(turn: &Turn) {
    send(turn, POOL);
}

/// The thread has waited for tasks.
pub(crate) fn complete(turn: &Turn) {
    receive(turn, ENDS);
}

/// A task that a thread runs for a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// How many methods the thread was in with the first method of the task, and which that is.
    depth: i32,
    method: Id,
    /// How many calls it was in before.
    pub(crate) calls: usize,
}

// SAFETY: ids are good on all threads.
unsafe impl Send for Task {}

/// Tasks may have been handed to pools by calls of which nothing is known.
static ARE_OPEN: AtomicBool = AtomicBool::new(false);

/// From now on tasks may come to a pool in ways that are not known.
pub(crate) fn open_pools() {
    ARE_OPEN.store(true, Ordering::Relaxed);
}

/// Whether tasks come to pools in known ways only.
pub(crate) fn are_closed() -> bool {
    !ARE_OPEN.load(Ordering::Relaxed)
}

/// A method with hooks begins, called by the library; says whether it is a task of a pool, as far as that can be seen
/// from the methods that have led there. Two frames are those of the hook and of the method.
pub(crate) fn begin(jni: Jni, turn: &Turn) -> bool {
    const MOST: usize = 24;
    let frames = tool().frames(2, MOST);
    let (mut is_task, mut is_repeated) = (false, false);
    for &frame in &frames {
        let Some((class, name, _)) = tool().method_names(jni, frame) else { return false };
        if is_of_pool(&class) {
            is_task = true;
            is_repeated |= class.ends_with(b"ScheduledFutureTask");
        } else if class == b"java/lang/Thread" && name.starts_with(b"run") || jdk::is_lambda(&class) {
            // Before the pool's own methods, or after them.
        } else if jdk::is_of_jdk(&class) {
            return false;
        } else {
            // The program's own code, which waits for the task, or has run it.
            break;
        }
    }
    let depth = tool().frame_count() - 1;
    let Some(&method) = tool().frames(1, 1).first() else { return false };
    if !is_task || frames.len() == MOST {
        return false;
    }
    let java = turn.me.java();
    let calls = java.calls.borrow().len();
    java.tasks.borrow_mut().push(Task { depth, method, calls });
    receive(turn, POOL);
    if is_repeated {
        // It comes after itself.
        receive(turn, ENDS);
    }
    content::update(turn, TAKEN, MemoryOrder::Relaxed);
    true
}

/// Classes that run tasks as they were handed in.
fn is_of_pool(class: &[u8]) -> bool {
    let Some(name) = class.strip_prefix(b"java/util/concurrent/") else { return false };
    [
        &b"ThreadPoolExecutor"[..],
        b"ThreadPoolExecutor$Worker",
        b"ThreadPoolExecutor$CallerRunsPolicy",
        b"FutureTask",
        b"Executors$RunnableAdapter",
        b"ScheduledThreadPoolExecutor$ScheduledFutureTask",
    ]
    .contains(&name)
}

/// Ends a task that is over, as the stack of the virtual machine shows: the thread sends what it has done. Returns that
/// task. The caller is one of our hooks at the beginning of a method, or a native method of ours.
pub(crate) fn end(turn: &Turn, is_beginning: bool) -> Option<Task> {
    let java = turn.me.java();
    let task = *java.tasks.borrow().last()?;
    let count = tool().frame_count();
    let others = i32::from(is_beginning);
    let is_below = count - others > task.depth;
    if is_below && tool().frames(count - task.depth, 1).first() == Some(&task.method) {
        return None;
    }
    java.tasks.borrow_mut().pop();
    send(turn, ENDS);
    Some(task)
}
