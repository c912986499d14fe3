//! A thread that has its turn but does not come to our code: it spins in a loop without hooks, or the kernel has
//! blocked it in a call that we do not know of. Those who wait for their turn notice, and go on without it.
//!
//! Whether the thread is in our code is written by itself without any barrier, since this happens at every hook; so
//! who looks makes all processors pass one. First the thread is asked to look up before its next record, then comes
//! the barrier, then the look: the thread is out of our code and will look up when it comes back, or it is seen to be
//! inside.

use std::sync::atomic::Ordering;

use foretell_wire::log::Timing;
use foretell_wire::record::Record;

use super::{BlockedOn, RUNS, RunState, SCHEDULER, Scheduler};
use crate::affinity;
use crate::file;
use crate::system::{self, kernel, processor_time, sleeps};
use crate::thread::Thread;

/// A look every so often, in nanoseconds, by one of those who wait.
const INTERVAL: u64 = 50_000_000;
/// A thread that has run for so long without a step is in no hurry to make one.
const ENOUGH: u64 = 50_000_000;
/// Those who sleep give it more time.
const MUCH: u64 = 500_000_000;

const REGISTER: i32 = 1 << 4;
const BARRIER: i32 = 1 << 3;

/// What was seen at the last look: the owner, how far it had come, for how long it had run, and how often it slept
/// since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SeenTurn {
    owner: u32,
    position: u64,
    time: u64,
    asleep: u32,
}

/// Tells the kernel that we will need barriers.
pub fn prepare() {
    kernel(libc::SYS_membarrier, [system::word(REGISTER), 0, 0, 0, 0, 0]);
}

fn make_all_pass_a_barrier() -> bool {
    kernel(libc::SYS_membarrier, [system::word(BARRIER), 0, 0, 0, 0, 0]) == 0
}

/// Looks whether the owner is getting on; if not, goes on without it. `me` waits for its turn.
pub(super) fn look(me: &'static Thread) {
    let owner = SCHEDULER.with(|scheduler| Some((scheduler.owner_thread()?, scheduler.wants_to_go_on(me)?)));
    let Some((owner, enough)) = owner.filter(|(owner, _)| owner.id != me.id) else { return };
    let kernel_id = owner.kernel_id.load(Ordering::Relaxed);
    let (time, asleep) = (processor_time(kernel_id), sleeps(kernel_id));
    SCHEDULER.with(|scheduler| {
        if scheduler.is_stuck(owner, time, asleep, enough) {
            // Those who sleep shall not wait for ever for one that comes to our code now and then, but makes no step.
            scheduler.clock = scheduler.clock.saturating_add(enough);
            scheduler.overtake(owner);
        }
    });
}

impl Scheduler {
    /// How long the thread waits for its turn before it looks at who has it, or whether an external thread has
    /// helped.
    pub(super) fn patience(&self, me: &Thread) -> Option<u64> {
        // A new thread may come before it is known.
        let state = self.slots.get(me.id as usize).map_or(RunState::Ready, |slot| slot.state);
        if let Some(patience) = self.patience_of_leaving(me) {
            return Some(patience);
        }
        match state {
            RunState::Ready | RunState::Last => {
                Some(INTERVAL.saturating_mul(self.slots.len().max(2) as u64 - 1))
            }
            RunState::Waiting(_) => Some(self.external_patience()),
            RunState::Away | RunState::Done => None,
        }
    }

    /// Whether the thread could go on, or its time will come once another thread does; then for how long the owner
    /// may run without a step.
    fn wants_to_go_on(&self, me: &Thread) -> Option<u64> {
        let state = self.slots.get(me.id as usize).map_or(RunState::Ready, |slot| slot.state);
        match state {
            _ if self.is_leaving(me) => Some(ENOUGH),
            RunState::Ready | RunState::Last => Some(ENOUGH),
            RunState::Waiting(BlockedOn { deadline: Some(_), .. }) => Some(MUCH),
            RunState::Waiting(_) | RunState::Away | RunState::Done => None,
        }
    }

    pub(super) fn owner_thread(&self) -> Option<&'static Thread> {
        let slot = self.slots.get(self.owner? as usize)?;
        Some(slot.thread)
    }

    fn is_stuck(&mut self, owner: &'static Thread, time: u64, asleep: bool, enough: u64) -> bool {
        if self.owner != Some(owner.id) || owner.go.load(Ordering::SeqCst) != RUNS {
            return false;
        }
        let position = owner.log().position();
        match &mut self.seen {
            Some(seen) if (seen.owner, seen.position) == (owner.id, position) => {
                // Who only wants for a processor neither runs nor sleeps.
                seen.asleep = if asleep && seen.time == time { seen.asleep + 1 } else { 0 };
                seen.asleep > 1 || time.saturating_sub(seen.time) > enough
            }
            _ => {
                self.seen = Some(SeenTurn { owner: owner.id, position, time, asleep: 0 });
                false
            }
        }
    }

    fn overtake(&mut self, owner: &'static Thread) {
        self.seen = None;
        owner.is_overtaken.store(true, Ordering::SeqCst);
        owner.log().stop();
        if !make_all_pass_a_barrier() || owner.log().is_inside() {
            // It hands over by itself; if not, there will be another look.
            owner.is_overtaken.store(false, Ordering::SeqCst);
            return;
        }
        file::set_timing(Timing::Overtaken, owner.id, owner.site.get());
        // It will not touch its log before it gets our lock. What it does meanwhile no thread sees.
        owner.log().put(&Record::Opaque { site: owner.site.get() });
        owner.log().end_turn();
        owner.log().stop();
        self.leave(owner, RunState::Away);
        affinity::free(owner);
    }
}
