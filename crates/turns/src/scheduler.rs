//! The scheduler: which thread runs next, and what each thread waits for.
//!
//! In the serial modes exactly one thread runs code of the program at any time, unless all wait. A seeded generator
//! chooses the next one among those that can run, so the same program makes the same choices again. In parallel mode
//! (see [`parallel`]) only waiting threads are kept from running.
//!
//! Time is counted in steps, so that it does not depend on the machine: each choice takes a little. Real time passes
//! only when every thread sleeps: the thread that has to wake first naps on the real clock, and the count jumps.

mod ended;
mod external;
mod interrupted;
mod leaving;
mod overtake;
mod parallel;
mod places;
pub mod replay;
mod sleep;
mod stall;
mod strategy;

pub use ended::{note_end, wait_for_ends};
pub use external::{had_external, note_external, wake_externally};
pub use interrupted::Interruption;
pub use leaving::let_others_go_on;
pub use overtake::prepare;
pub use stall::note_progress;
pub use strategy::{StrategySettings, hunt, note_block, note_lock, note_module, note_taken, save_lessons};

use std::sync::atomic::{AtomicUsize, Ordering};

use foretell_wire::log::Timing;

use crate::affinity;
use crate::file;
use crate::mode;
use crate::spin::Spin;
use crate::system::{now, wake, without_signals};
use crate::thread::Thread;

/// Values of [`Thread::go`]: wait, run, or wait on the real clock and then see.
const WAIT: u32 = 0;
const RUN: u32 = 1;
const NAP: u32 = 2;
/// The thread knows that it is its turn. Until then the turn can be taken back, see [`interrupted`].
const RUNS: u32 = 3;

/// What a choice takes, in nanoseconds of counted time.
const CHOICE: u64 = 10_000;

/// Who lets all others go first does so until so many turns have ended: a thread may wait for it in a loop.
const LAST: u64 = 64;

/// What a thread is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunState {
    /// It could run.
    Ready,
    /// It could run, and lets all others go first.
    Last,
    /// It waits for something.
    Waiting(BlockedOn),
    /// It is in the kernel, or in other code that may block.
    Away,
    /// It has ended.
    Done,
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockedOn {
    /// The address of what it waits for; sleepers wait for nothing, at 0.
    pub on: usize,
    /// When it stops to wait, in counted time.
    pub deadline: Option<u64>,
    /// Who may end the wait.
    pub helper: Helper,
    /// It goes on if a thread cancels it.
    pub cancellable: bool,
}

/// Who may end a wait before its time is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Helper {
    /// Only who wakes the thread.
    Waker,
    /// Any thread may give up what it waits for, be it unseen. Woken without a reason it looks again and goes on to
    /// wait.
    Threads,
    /// As [`Helper::Threads`], and so may the handler of a signal.
    Anybody,
}

impl BlockedOn {
    /// Woken without a reason it would look again and go on to wait.
    fn looks_again(self) -> bool {
        self.helper != Helper::Waker
    }
}

/// Why a thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeReason {
    /// It was its turn, or a thread woke it.
    Woken,
    /// Its time was over.
    TimedOut,
    /// A thread has cancelled it.
    Cancelled,
    /// A handler of a signal has interrupted its wait.
    Interrupted,
}

struct Slot {
    thread: &'static Thread,
    state: RunState,
    reason: WakeReason,
    /// The count of waits when this one began: who waits longest is woken first.
    since: u64,
    /// What a strategy knows of it.
    standing: strategy::WaitingThread,
}

/// All threads, and who runs.
struct Scheduler {
    slots: Vec<Slot>,
    /// Whose turn it is.
    owner: Option<u32>,
    /// Who naps on the real clock, if no thread can run, and when the nap ends there.
    napper: Option<u32>,
    nap_ends: u64,
    /// Counted time.
    clock: u64,
    random: u64,
    waits: u64,
    /// What was seen of the owner when a thread last looked.
    seen: Option<overtake::SeenTurn>,
    /// Who may help that we do not see, as far as was known when a thread last looked.
    external: external::External,
    /// The scheduling strategy, if it is not the random one.
    hunt: Option<strategy::Hunt>,
    /// The schedule that is to be followed, if there is one.
    given: Option<replay::ReplayedSchedule>,
    /// The thread that was given the turn and has not been notified yet.
    untold: Option<&'static Thread>,
    /// How many turns were given.
    turns: u64,
    /// Who has called `exit`, and how far the others may still go.
    leaving: Option<leaving::Leaving>,
    /// What was last seen of an owner that does not know it.
    unmet: Option<interrupted::SeenInterrupted>,
    /// How often in a row all looked again, and no external thread could help.
    alone: u32,
}

/// The scheduler, for one thread at a time.
struct SharedScheduler(Spin<Scheduler>);

impl SharedScheduler {
    /// Waits until no other thread is at it, then does something with it. The thread that gets the turn by that is
    /// woken when no thread is at it any more: before, it would only find it taken. If a handler jumps away in
    /// between, it finds out by itself, see [`Scheduler::patience`].
    fn with<R>(&self, act: impl FnOnce(&mut Scheduler) -> R) -> R {
        let (result, untold) = self.0.with(|scheduler| (act(scheduler), scheduler.untold.take()));
        if let Some(thread) = untold {
            wake(&thread.go);
        }
        result
    }
}

/// How many threads wait for something. A thread that wakes others has learnt of waiting ones when it got its turn, or
/// the stripe of all synchronisation: it need not ask the scheduler.
static WAITING: AtomicUsize = AtomicUsize::new(0);

static SCHEDULER: SharedScheduler = SharedScheduler(Spin::new(Scheduler {
    slots: Vec::new(),
    owner: None,
    napper: None,
    nap_ends: 0,
    clock: 0,
    random: 1,
    waits: 0,
    seen: None,
    external: external::External::NONE,
    hunt: None,
    given: None,
    untold: None,
    turns: 0,
    leaving: None,
    unmet: None,
    alone: 0,
}));

/// Begins with the calling thread alone, whose turn it is.
pub fn begin(main: &'static Thread, seed: u64) {
    SCHEDULER.with(|scheduler| {
        scheduler.random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        scheduler.slots.clear();
        scheduler.napper = None;
        scheduler.leaving = None;
        ended::forget();
        WAITING.store(0, Ordering::SeqCst);
        scheduler.add(main);
        scheduler.owner = Some(main.id);
    });
    main.go.store(RUNS, Ordering::SeqCst);
}

/// The process is a copy: the thread that held the lock is not here.
pub fn forget() {
    SCHEDULER.0.forget();
}

/// The thread is about to jump away from wherever it is in our code. It gets its turn, if it does not have it.
pub fn jump_back(me: &'static Thread) {
    let was_choosing = SCHEDULER.0.leave(me);
    if mode::is_parallel() {
        return parallel::set_state(me, RunState::Ready);
    }
    SCHEDULER.with(|scheduler| {
        if let Some(owner) = scheduler.owner_thread()
            && was_choosing
        {
            // It may not have been notified yet.
            let _ = owner.go.compare_exchange(WAIT, RUN, Ordering::SeqCst, Ordering::SeqCst);
            scheduler.untold = Some(owner);
        }
        me.is_late.store(false, Ordering::SeqCst);
        me.interruption.set(None);
    });
    if me.go.load(Ordering::SeqCst) != RUNS {
        come_back(me);
    }
}

/// The number for the next thread.
pub fn next_id() -> u32 {
    SCHEDULER.with(|scheduler| u32::try_from(scheduler.slots.len()).unwrap_or(u32::MAX))
}

/// Whether the thread has its turn, and knows it.
pub fn has_turn(thread: &Thread) -> bool {
    thread.go.load(Ordering::SeqCst) == RUNS
}

/// A new thread can run from now on.
pub fn add(thread: &'static Thread) {
    without_signals(|| SCHEDULER.with(|scheduler| scheduler.add(thread)));
}

/// The calling thread is new and waits for its first turn.
pub fn begin_thread(me: &'static Thread) {
    if !mode::is_parallel() {
        wait_for_turn(me);
    }
}

/// A number below `bound`, which is not 0.
pub fn random(bound: u32) -> u32 {
    SCHEDULER.with(|scheduler| scheduler.random(bound))
}

/// Counted time; the real one where threads run in parallel.
pub fn clock() -> u64 {
    if mode::is_parallel() { now() } else { SCHEDULER.with(|scheduler| scheduler.clock) }
}

/// The calling thread, whose turn it is, hands over and comes back when it is its turn again. `let_others` is called
/// once it is known that the thread waits.
pub fn hand_over(me: &'static Thread, state: RunState, let_others: impl FnOnce()) -> WakeReason {
    if mode::is_parallel() {
        return parallel::wait(me, state, let_others);
    }
    me.log().end_turn();
    SCHEDULER.with(|scheduler| scheduler.leave(me, state));
    let_others();
    replay::settle();
    wait_for_turn(me);
    SCHEDULER.with(|scheduler| scheduler.slot(me).map_or(WakeReason::Woken, |slot| slot.reason))
}

/// The calling thread hands over and goes its own way: into the kernel, or to its end.
pub fn go_away(me: &'static Thread, state: RunState) {
    if mode::is_parallel() {
        return parallel::set_state(me, state);
    }
    me.log().end_turn();
    SCHEDULER.with(|scheduler| {
        me.left.set(scheduler.turns);
        scheduler.leave(me, state);
    });
    replay::settle();
    me.run_handlers();
}

/// The calling thread was away and waits for its turn.
pub fn come_back(me: &'static Thread) {
    if mode::is_parallel() {
        return parallel::set_state(me, RunState::Ready);
    }
    SCHEDULER.with(|scheduler| {
        if scheduler.turns != me.left.get() {
            // How far the others have come meanwhile depends on real time.
            file::set_timing(Timing::CameBack, me.id, me.site.get());
        }
        scheduler.be_back(me);
    });
    replay::settle();
    wait_for_turn(me);
}

/// Wakes up to `count` threads that wait on this address, in the order in which they came. Returns who they are.
pub fn wake_waiters(on: usize, count: usize) -> Vec<u32> {
    if WAITING.load(Ordering::SeqCst) == 0 {
        return Vec::new();
    }
    without_signals(|| SCHEDULER.with(|scheduler| scheduler.wake_waiters(on, count)))
}

/// Wakes one of the threads that wait on this address, any of them, as only one can get what they wait for. Where
/// threads run in parallel, all are woken, since a slow one would starve; and under a schedule or a strategy all are
/// woken, since these choose which is first.
pub fn wake_any(on: usize) {
    if WAITING.load(Ordering::SeqCst) == 0 {
        return;
    }
    if mode::is_parallel() || mode::is_scheduled() || mode::is_strategic() {
        wake_waiters(on, usize::MAX);
        return;
    }
    SCHEDULER.with(|scheduler| scheduler.wake_any(on));
}

/// The thread is to end where it can be cancelled.
pub fn cancel(thread: &'static Thread) {
    thread.is_cancelled.store(true, Ordering::SeqCst);
    SCHEDULER.with(|scheduler| {
        let state = scheduler.slot(thread).map(|slot| slot.state);
        if matches!(state, Some(RunState::Waiting(waiting)) if waiting.cancellable) {
            scheduler.make_ready(thread.id, WakeReason::Cancelled);
        }
    });
}

/// Whether the thread has ended.
pub fn is_done(thread: &'static Thread) -> bool {
    SCHEDULER.with(|scheduler| scheduler.slot(thread).is_none_or(|slot| slot.state == RunState::Done))
}

/// Whether all threads have ended.
pub fn all_are_done() -> bool {
    SCHEDULER.with(|scheduler| scheduler.slots.iter().all(|slot| slot.state == RunState::Done))
}

/// The thread that the C library knows by this number.
pub fn by_handle(handle: u64) -> Option<&'static Thread> {
    SCHEDULER.with(|scheduler| scheduler.find(|thread| thread.handle.load(Ordering::Relaxed) == handle))
}

/// A thread may run wherever the process may, if it is one of ours. Handlers of signals may ask, too; but not for
/// others if they have interrupted the scheduler.
pub fn release_affinity(is_wanted: impl Fn(&Thread) -> bool) {
    SCHEDULER.0.with_unless_own(|scheduler| scheduler.find(is_wanted).map(affinity::free));
}

/// The program says itself where its threads run.
pub fn leave_affinity_to_program() {
    affinity::close();
    // Those that cannot be let go now leave at their next turns.
    SCHEDULER
        .0
        .with_unless_own(|scheduler| scheduler.slots.iter().for_each(|slot| affinity::free(slot.thread)));
}

/// Waits until it is the thread's turn.
fn wait_for_turn(me: &'static Thread) {
    loop {
        if me.go.load(Ordering::SeqCst) != RUNS {
            me.run_handlers();
        }
        match me.go.load(Ordering::SeqCst) {
            RUN => {
                let told = me.go.compare_exchange(RUN, RUNS, Ordering::SeqCst, Ordering::SeqCst);
                if told.is_ok() {
                    wait_for_ends();
                    affinity::arrive(me);
                    return me.log().begin_turn();
                }
            }
            RUNS => return,
            NAP => {
                let (left, nap) = SCHEDULER.with(|scheduler| scheduler.left_to_sleep(me));
                let begin = now();
                me.is_interrupted.store(false, Ordering::Relaxed);
                let is_interrupted = interrupted::sleep_on(me, NAP, Some(nap));
                let slept = now().saturating_sub(begin);
                SCHEDULER.with(|scheduler| {
                    if is_interrupted {
                        scheduler.end_wait_by_handler(me);
                    }
                    scheduler.nap_is_over(me, slept, slept >= left);
                });
            }
            other => {
                let Some(patience) = SCHEDULER.with(|scheduler| scheduler.patience_unless_late(me)) else {
                    continue;
                };
                affinity::depart(me);
                me.is_interrupted.store(false, Ordering::Relaxed);
                if interrupted::sleep_on(me, other, patience) {
                    SCHEDULER.with(|scheduler| scheduler.interrupt(me));
                }
                if me.go.load(Ordering::SeqCst) == WAIT {
                    leaving::look(me);
                    interrupted::look(me);
                    overtake::look(me);
                    external::look(me);
                    replay::look();
                }
            }
        }
    }
}

impl Scheduler {
    fn add(&mut self, thread: &'static Thread) {
        let standing = self.standing_of_new(thread);
        self.slots.push(Slot {
            thread,
            state: RunState::Ready,
            reason: WakeReason::Woken,
            since: 0,
            standing,
        });
    }

    fn find(&self, is_wanted: impl Fn(&Thread) -> bool) -> Option<&'static Thread> {
        self.slots.iter().rev().find(|slot| is_wanted(slot.thread)).map(|slot| slot.thread)
    }

    fn slot(&mut self, thread: &Thread) -> Option<&mut Slot> {
        self.slots.get_mut(thread.id as usize)
    }

    fn random(&mut self, bound: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (((self.random >> 32) * u64::from(bound)) >> 32) as u32
    }

    fn leave(&mut self, me: &'static Thread, state: RunState) {
        me.go.store(WAIT, Ordering::SeqCst);
        self.begin_wait(me, state);
        if self.hunt.is_some() {
            without_signals(|| self.note_standing(me, state));
        }
        self.choose();
    }

    fn begin_wait(&mut self, me: &Thread, state: RunState) {
        self.waits += 1;
        let since = self.waits;
        if let Some(slot) = self.slot(me) {
            slot.reason = WakeReason::Woken;
            slot.since = since;
        }
        self.set_state(me, state);
    }

    fn set_state(&mut self, thread: &Thread, state: RunState) {
        let waits = |state| usize::from(matches!(state, RunState::Waiting(_)));
        let Some(slot) = self.slot(thread) else { return };
        let old = std::mem::replace(&mut slot.state, state);
        if waits(state) != waits(old) {
            let others = WAITING.load(Ordering::Relaxed) - waits(old);
            WAITING.store(others + waits(state), Ordering::SeqCst);
        }
    }

    fn wake_waiters(&mut self, on: usize, count: usize) -> Vec<u32> {
        let mut waiters: Vec<(u64, u32)> = self
            .slots
            .iter()
            .filter(|slot| matches!(slot.state, RunState::Waiting(waiting) if waiting.on == on))
            .map(|slot| (slot.since, slot.thread.id))
            .collect();
        waiters.sort_unstable();
        self.sort_as_given(&mut waiters);
        waiters.truncate(count);
        for &(_, id) in &waiters {
            self.make_ready(id, WakeReason::Woken);
        }
        waiters.into_iter().map(|(_, id)| id).collect()
    }

    fn wake_any(&mut self, on: usize) {
        let waits = |slot: &&Slot| matches!(slot.state, RunState::Waiting(waiting) if waiting.on == on);
        let count = self.slots.iter().filter(waits).count();
        let choice = if count < 2 { 0 } else { self.random(u32::try_from(count).unwrap_or(1)) };
        if let Some(slot) = self.slots.iter().filter(waits).nth(choice as usize) {
            self.make_ready(slot.thread.id, WakeReason::Woken);
        }
    }

    fn make_ready(&mut self, id: u32, reason: WakeReason) {
        let Some(slot) = self.slots.get_mut(id as usize) else { return };
        slot.reason = reason;
        let thread = slot.thread;
        self.set_state(thread, RunState::Ready);
        if mode::is_parallel() {
            thread.go.store(RUN, Ordering::SeqCst);
            wake(&thread.go);
        }
    }

    fn give_turn(&mut self, thread: &'static Thread) {
        let is_other = self.owner != Some(thread.id);
        self.turns += 1;
        self.owner = Some(thread.id);
        thread.go.store(RUN, Ordering::SeqCst);
        if is_other {
            self.untold = Some(thread);
        }
    }

    /// The thread was away, and waits for its turn.
    fn be_back(&mut self, me: &'static Thread) {
        self.set_state(me, RunState::Ready);
        if self.owner.is_none() && !self.choose_as_given() {
            self.wake_napper();
            self.give_turn(me);
        }
    }

    /// Gives the turn to a thread that can run.
    fn choose(&mut self) {
        self.clock += CHOICE;
        if self.choose_as_given() || self.leave_if_others_went_on() {
            return;
        }
        self.end_sleep();
        self.end_courtesy(LAST);
        let picked = self.pick().or_else(|| {
            self.end_courtesy(0);
            self.pick()
        });
        match picked {
            Some(thread) => self.give_turn(thread),
            None => self.no_thread_is_ready(),
        }
    }

    fn pick(&mut self) -> Option<&'static Thread> {
        match &self.hunt {
            Some(_) => without_signals(|| self.pick_by_strategy()),
            None => self.anybody(),
        }
    }

    /// Those who have let others go first for at least so many turns can run.
    fn end_courtesy(&mut self, turns: u64) {
        let waits = self.waits;
        let is_over = |slot: &&mut Slot| slot.state == RunState::Last && waits - slot.since >= turns;
        self.slots.iter_mut().filter(is_over).for_each(|slot| slot.state = RunState::Ready);
    }

    /// Any thread that can run.
    fn anybody(&mut self) -> Option<&'static Thread> {
        let is_ready = |slot: &&Slot| slot.state == RunState::Ready;
        let ready = self.slots.iter().filter(is_ready).count();
        let choice = if ready < 2 { 0 } else { self.random(u32::try_from(ready).unwrap_or(1)) };
        self.slots.iter().filter(is_ready).nth(choice as usize).map(|slot| slot.thread)
    }
}
