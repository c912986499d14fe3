//! What a thread may do while it is in our code: look at its own state, write to its log, hand over.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_schedule::Operation;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::{Record, SyncOp};

use crate::log::LONGEST_RANGE;
use crate::machine::machine;
use crate::mode;
use crate::scheduler::replay::{self, Point};
use crate::scheduler::{self, BlockedOn, Helper, Interruption, RunState, WakeReason, hand_over, random};
use crate::shared;
use crate::stripes::{self, MEMORY, OUTSIDE, SYNC, Set};
use crate::system::{errno, exit_now, pause, set_errno};
use crate::thread::{Thread, me};

/// A thread does at most so much before it hands over, half of it on average: accesses, calls, and whatever else is
/// recorded,
const LONG_QUANTUM: u32 = 2_400;
/// and every fourth time only so much: short programs shall see changes of turn, too.
const SHORT_QUANTUM: u32 = 24;
/// The longer the thread has run, the longer are its quanta: after so many of them they are twice as long, and so on,
const QUANTA_TO_DOUBLE: u32 = 32;
/// up to so many times.
const DOUBLINGS: u32 = 6;
/// At meetings a thread hands over every fourth time, and less often after so many of them.
const MEETINGS_TO_RELAX: u32 = 64;
const RAREST_CHANGE: u32 = 128;

/// The calling thread is in our code. If threads take turns, it is its turn. Ends when dropped.
pub struct Turn {
    /// The calling thread.
    pub me: &'static Thread,
    /// The clock of [`SYNC`], if the thread holds that stripe: then no other thread synchronises.
    sync: Cell<Option<u64>>,
    /// The thread holds the stripes of all memory: then no other thread accesses any.
    memory: Cell<bool>,
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        if mode::is_scheduled() {
            replay::has_acted(self);
        }
        self.release_memory();
        self.end_alone();
        self.me.leave();
    }
}

/// The thread is away; comes back when this is dropped.
struct Away<'a>(&'a Turn);

impl Drop for Away<'_> {
    fn drop(&mut self) {
        let error = errno();
        scheduler::come_back(self.0.me);
        self.0.begin_alone();
        self.0.fence_if_outside();
        set_errno(error);
    }
}

impl Turn {
    /// None if the calling thread is not recorded, or was in our code already: a signal handler, or the C library
    /// calling itself.
    #[inline]
    pub fn take() -> Option<Turn> {
        let me = me()?;
        if !me.enter() {
            me.is_interrupted.store(true, Ordering::Relaxed);
            return None;
        }
        let turn = Turn::of(me);
        if me.log().is_stopped() {
            turn.catch_up();
        }
        Some(turn)
    }

    /// As [`Turn::take`], to synchronise: no other thread does at the same time, but while this thread waits.
    pub fn alone() -> Option<Turn> {
        let turn = Turn::take()?;
        turn.begin_alone();
        Some(turn)
    }

    /// The turn of a thread that is in our code already.
    #[inline]
    pub fn of(me: &'static Thread) -> Turn {
        Turn { me, sync: Cell::new(None), memory: Cell::new(false) }
    }

    /// No other thread synchronises from now on.
    pub fn begin_alone(&self) {
        if mode::is_parallel() && self.sync.get().is_none() {
            self.sync.set(Some(Set::one(SYNC).lock()));
        }
    }

    fn end_alone(&self) {
        if let Some(clock) = self.sync.take() {
            Set::one(SYNC).unlock(clock);
        }
    }

    /// No other thread accesses memory from now on. Not for who synchronises, nor with a fence before the end.
    pub fn hold_memory(&self) {
        if mode::is_parallel() {
            self.me.log().follow(Set::all_but_sync().lock());
            self.memory.set(true);
        }
    }

    /// Others may access memory again.
    pub fn release_memory(&self) {
        if self.memory.take() {
            Set::all_but_sync().unlock(self.me.log().clock - 1);
        }
    }

    /// Before a record: now and then another thread goes on first.
    #[inline]
    pub fn step(&self) {
        self.step_to(Point::Step(None));
    }

    /// As [`Turn::step`], before a record that is no step.
    #[inline]
    pub fn pass(&self) {
        self.step_to(Point::Silent);
    }

    #[inline]
    fn step_to(&self, point: Point) {
        if !self.me.log().may_go_on() {
            self.look_up(point);
        }
    }

    /// Before a decision. No other thread goes on first, since decisions are not logged where nothing is recorded, and
    /// turns are to end at the same moments; only a schedule that is given may want that.
    pub fn decide(&self) {
        if mode::is_parallel() || mode::is_scheduled() {
            self.pass();
        } else if self.me.log().is_stopped() {
            self.catch_up();
        }
    }

    /// Before a step, where no other thread would go on first: only a schedule that is given may want that.
    pub fn due(&self) {
        if mode::is_scheduled() {
            replay::wait(self, Point::Step(None));
        }
    }

    /// As [`Turn::due`], before memory is given back.
    pub fn due_to_free(&self, start: usize, bytes: usize) {
        if mode::is_scheduled() {
            replay::wait(self, Point::Free((start, bytes)));
        }
    }

    /// The quantum has come to its end, or something has happened. Threads that run in parallel always look.
    #[cold]
    fn look_up(&self, point: Point) {
        self.catch_up();
        if self.me.ends_anywhere.load(Ordering::Relaxed) {
            self.may_end_anywhere();
        }
        if mode::is_parallel() {
            // Code that is not instrumented may just have communicated with such code of another thread.
            self.fence_if_outside();
        } else if mode::is_scheduled() {
            replay::wait(self, point);
        } else if self.me.log().quantum_is_over() && !(machine().keeps_turn)(self.me) {
            self.me.next.set(Operation::Unknown);
            self.change();
        }
    }

    /// What has happened that the thread does not know of yet: a signal handler in our code, or the loss of its turn.
    #[cold]
    pub fn catch_up(&self) {
        if self.me.put_off.load(Ordering::Relaxed) != 0 {
            self.me.leave();
            self.me.run_handlers();
            self.me.enter();
        }
        if self.me.has_missed.take() {
            self.fence(self.me.site.get());
        }
        if self.me.is_overtaken.load(Ordering::Relaxed) && self.me.is_overtaken.swap(false, Ordering::SeqCst)
        {
            scheduler::come_back(self.me);
            if !self.me.stack.is_in_known_library() {
                self.fence(self.me.site.get());
            }
        }
    }

    /// A step at which threads meet: a good moment for another thread to go on.
    pub fn meeting(&self) {
        self.meeting_before(Operation::Other);
    }

    /// The thread is about to synchronise by something that is no lock, or may not take it.
    pub fn meeting_at(&self, object: usize) {
        self.meeting_before(Operation::Meet { object: object as u64 });
    }

    /// The thread is about to take a lock.
    pub fn meeting_at_lock(&self, lock: usize) {
        self.meeting_before(Operation::Acquire { lock: lock as u64, kind: 0 });
    }

    fn meeting_before(&self, next: Operation) {
        if mode::is_parallel() {
            return;
        }
        if mode::is_scheduled() {
            return replay::wait(self, Point::Between);
        }
        if (machine().keeps_turn)(self.me) {
            return;
        }
        if mode::is_strategic() {
            self.me.next.set(next);
            self.hand_over(RunState::Ready);
            return;
        }
        let meetings = self.me.meetings.get();
        self.me.meetings.set(meetings.saturating_add(1));
        if random((4 + meetings / MEETINGS_TO_RELAX).min(RAREST_CHANGE)) == 0 {
            self.change();
        }
    }

    /// The thread is done with all that matters to others: they go on first, as far as they can.
    pub fn let_all_go_first(&self) {
        if mode::is_parallel() || mode::is_scheduled() {
            return;
        }
        self.me.next.set(Operation::Other);
        self.hand_over(RunState::Last);
    }

    /// The program lets others go on. Who waits in this way for another thread shall not fill the log.
    pub fn yield_turn(&self) {
        const PAUSE: u64 = 100_000;
        if mode::is_parallel() {
            pause(PAUSE);
        } else if mode::is_scheduled() {
            replay::wait(self, Point::Between);
        } else {
            self.me.next.set(Operation::Unknown);
            self.change();
        }
    }

    /// Lets others go on first.
    #[cold]
    fn change(&self) {
        let changes = self.me.changes.get();
        self.me.changes.set(changes.saturating_add(1));
        // A strategy hears of accesses at the ends of quanta alone: who waits in a loop must come to one soon.
        let doublings = if mode::is_strategic() { 0 } else { DOUBLINGS };
        let long = LONG_QUANTUM << (changes / QUANTA_TO_DOUBLE).min(doublings);
        let quantum = 1 + random(if random(4) == 0 { SHORT_QUANTUM } else { long });
        self.hand_over(RunState::Ready);
        self.me.log().set_quantum(quantum);
    }

    /// Waits until a thread wakes those who wait on the address, or looks again after a while if others may help.
    pub fn wait(&self, on: usize, deadline: Option<u64>, helper: Helper) -> WakeReason {
        if !self.me.ends_anywhere.load(Ordering::Relaxed) {
            return self.wait_as(BlockedOn { on, deadline, helper, cancellable: false });
        }
        self.may_end_anywhere();
        let reason =
            self.wait_as(BlockedOn { on, deadline, helper, cancellable: (machine().allows_cancellation)() });
        self.may_end_anywhere();
        if reason == WakeReason::Cancelled { WakeReason::Woken } else { reason }
    }

    fn wait_as(&self, waiting: BlockedOn) -> WakeReason {
        let reason = self.hand_over(RunState::Waiting(waiting));
        if mode::is_scheduled() {
            // To be woken does not mean that it is due.
            replay::wait(self, Point::Between);
        }
        reason
    }

    /// As [`Turn::wait`], for a lock. If the wait never ends, this is reported of it.
    pub fn wait_for_lock(&self, lock: usize, deadline: Option<u64>, failed: SyncOp) -> WakeReason {
        self.me.attempt.set(Some((failed, lock)));
        let reason = self.wait(lock, deadline, Helper::Threads);
        self.me.attempt.set(None);
        reason
    }

    /// What the thread does while it waits for the end of another one.
    pub fn joining<R>(&self, child: u32, wait: impl FnOnce() -> R) -> R {
        self.me.attempt.set(Some((SyncOp::Join, child as usize)));
        let result = wait();
        self.me.attempt.set(None);
        result
    }

    /// As [`Turn::wait`]; but the thread may be cancelled, or has been. Then the caller makes up its mind and calls
    /// [`Turn::end_if_cancelled`].
    pub fn wait_or_end(&self, on: usize, deadline: Option<u64>, helper: Helper) -> WakeReason {
        if self.is_to_end() {
            return WakeReason::Cancelled;
        }
        self.wait_as(BlockedOn { on, deadline, helper, cancellable: (machine().allows_cancellation)() })
    }

    /// As [`Turn::wait_or_end`]; but handlers of signals end the wait, too, as they end that in the kernel.
    pub fn wait_or_be_interrupted(&self, on: usize, deadline: Option<u64>, helper: Helper) -> WakeReason {
        self.me.interruption.set(Some(Interruption::new(deadline.is_some())));
        let mut reason = self.wait_or_end(on, deadline, helper);
        let is_over = self.me.interruption.take().is_some_and(|interruption| interruption.is_over);
        if is_over && reason == WakeReason::Woken {
            reason = WakeReason::Interrupted;
        }
        if reason == WakeReason::Interrupted {
            // The sender of the signal may communicate by it.
            self.fence(self.me.site.get());
        }
        reason
    }

    /// Whether the thread was cancelled and allows that.
    fn is_to_end(&self) -> bool {
        self.me.is_cancelled.load(Ordering::SeqCst) && (machine().allows_cancellation)()
    }

    /// At a place where threads can be cancelled, though it does not have to wait there.
    pub fn may_end(self) -> Turn {
        if self.is_to_end() { self.end_if_cancelled() } else { self }
    }

    /// A thread that may be cancelled at any moment ends here if it was. It has nothing half done.
    #[cold]
    fn may_end_anywhere(&self) {
        if self.me.ends_anywhere.load(Ordering::Relaxed) && self.is_to_end() {
            self.me.attempt.set(None);
            (machine().end_cancelled)(self.me);
        }
    }

    /// Ends the thread, if it was cancelled and allows that.
    pub fn end_if_cancelled(self) -> Turn {
        let me = self.me;
        drop(self);
        (machine().end_cancelled)(me);
        me.enter();
        let turn = Turn::of(me);
        turn.begin_alone();
        turn
    }

    /// Waits for so long, in counted time. Says how much of that is left if a handler of a signal has interrupted it.
    pub fn sleep(self, nanoseconds: u64) -> (Turn, Option<u64>) {
        let deadline = deadline_in(nanoseconds);
        match self.wait_or_be_interrupted(0, Some(deadline), Helper::Waker) {
            WakeReason::Cancelled => (self.end_if_cancelled(), None),
            WakeReason::Interrupted => {
                let left = deadline.saturating_sub(scheduler::clock()).min(nanoseconds);
                (self, Some(left))
            }
            WakeReason::Woken | WakeReason::TimedOut => (self, None),
        }
    }

    /// Does something that may block, while others go on.
    pub fn away<R>(&self, act: impl FnOnce() -> R) -> R {
        self.fence_if_outside();
        scheduler::go_away(self.me, RunState::Away);
        self.end_alone();
        // Who is cancelled comes back as well.
        let _away = Away(self);
        if self.me.ends_anywhere.load(Ordering::Relaxed) {
            return anywhere(act);
        }
        act()
    }

    /// Hands over; the thread comes back when it is its turn again, which depends on what the state says.
    pub fn hand_over(&self, state: RunState) -> WakeReason {
        let error = errno();
        self.fence_if_outside();
        let alone = self.sync.get().is_some();
        let reason = hand_over(self.me, state, || self.end_alone());
        if alone {
            self.begin_alone();
            // Other threads may have recorded what this thread did, such as that it left a barrier.
            self.me.log().follow(self.sync.get().unwrap_or(0));
        }
        self.fence_if_outside();
        set_errno(error);
        reason
    }

    /// Nothing may be reordered around what happens here: all that others have done so far comes before it, and all
    /// that they will do after it. So no thread may be in the midst of anything.
    pub fn fence(&self, site: u64) {
        let record = Record::Opaque { site };
        if !mode::is_parallel() {
            return self.me.log().put(&record);
        }
        let alone = self.sync.get().is_some();
        self.begin_alone();
        self.locked(&Set::all_but_sync(), || self.put_sync(&record));
        if !alone {
            self.end_alone();
        }
    }

    /// A call whose outcome depends on those before it in a way that is not in the program's memory: such calls keep
    /// their order among each other.
    pub fn in_order(&self, among: &'static AtomicU64, order: MemoryOrder) {
        let (site, addr) = (self.me.site.get(), among.as_ptr() as u64);
        let act = || {
            let read = among.fetch_add(1, Ordering::Relaxed);
            let written = read.wrapping_add(1);
            self.log(&Record::Rmw { site, addr, size: 8, read, written, order });
        };
        if mode::is_parallel() && !self.memory.get() {
            self.locked(&Set::one(OUTSIDE), act);
        } else {
            act();
        }
        self.log_branch(site, None);
    }

    /// Something changes that others can ask for: the thread that learns of it learns all that was done before.
    pub fn publish(&self, what: &'static AtomicU64) {
        let (site, addr) = (self.me.site.get(), what.as_ptr() as u64);
        self.at(what.as_ptr() as usize, size_of::<u64>(), || {
            let value = what.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            self.log(&Record::AtomicStore { site, addr, size: 8, value, order: MemoryOrder::Release });
        });
    }

    /// The thread asks for something that others may have changed.
    pub fn look_at(&self, what: &'static AtomicU64) {
        let (site, addr) = (self.me.site.get(), what.as_ptr() as u64);
        self.at(what.as_ptr() as usize, size_of::<u64>(), || {
            let value = what.load(Ordering::Relaxed);
            self.log(&Record::AtomicLoad { site, addr, size: 8, value, order: MemoryOrder::Acquire });
        });
        self.log_branch(site, None);
    }

    /// A thread that hands over while it is in code that is not instrumented (it was called back, or a library has
    /// met one of the functions that we replace) may have touched any memory before, and will after it comes back.
    fn fence_if_outside(&self) {
        if self.me.stack.is_outside() && !self.me.stack.is_in_known_library() {
            self.fence(self.me.site.get());
        }
    }

    /// Holds these stripes while something is done and logged.
    fn locked<R>(&self, stripes: &Set, act: impl FnOnce() -> R) -> R {
        self.me.log().follow(stripes.lock());
        let result = act();
        stripes.unlock(self.me.log().clock - 1);
        result
    }

    /// Now and then another thread goes on first; then accesses memory and logs that, as [`Turn::at`].
    #[inline]
    pub fn access<R>(&self, addr: usize, bytes: usize, act: impl FnOnce() -> R) -> R {
        self.step_to(Point::Step(Some((addr, bytes))));
        self.at(addr, bytes, act)
    }

    /// Accesses memory and logs that; no other thread is at this memory meanwhile.
    #[inline]
    pub fn at<R>(&self, addr: usize, bytes: usize, act: impl FnOnce() -> R) -> R {
        if !mode::is_parallel() || self.memory.get() {
            return act();
        }
        let Some(stripe) = stripes::of_word(addr, bytes) else {
            return self.locked(&Set::of_range(addr, bytes), act);
        };
        self.me.log().follow(stripes::lock(stripe));
        let result = act();
        stripes::unlock(stripe, self.me.log().clock - 1);
        result
    }

    /// Locks the stripe of a word for a thread that is in our code, if threads run in parallel and there is nothing
    /// else to be done before the access. After it and its record, [`Turn::release_word`].
    #[inline(always)]
    pub fn hold_word(me: &Thread, addr: usize, bytes: usize) -> Option<&'static AtomicU64> {
        if !mode::is_parallel() || me.has_news() || me.stack.is_outside() {
            return None;
        }
        let stripe = stripes::of_word(addr, bytes)?;
        me.log().follow(stripes::lock_as(Some(me), stripe));
        Some(stripe)
    }

    /// See [`Turn::hold_word`].
    #[inline(always)]
    pub fn release_word(me: &Thread, stripe: &AtomicU64) {
        stripes::unlock(stripe, me.log().clock - 1);
        me.leave();
    }

    /// As [`Turn::at`], for memory in two places.
    pub fn at_both<R>(&self, to: usize, from: usize, bytes: usize, act: impl FnOnce() -> R) -> R {
        if !mode::is_parallel() {
            return act();
        }
        let mut stripes = Set::of_range(to, bytes);
        stripes.add_range(from, bytes);
        self.locked(&stripes, act)
    }

    /// Tells the log which calls the thread is in, if that has changed.
    #[inline]
    pub fn tell_calls(&self) {
        self.me.tell_calls();
    }

    /// Adds to the log an event whose calls matter.
    #[inline]
    pub fn log(&self, record: &Record<'_>) {
        self.tell_calls();
        self.me.log().put(record);
    }

    /// A decision; of no interest if nothing was recorded since the last one.
    #[inline]
    pub fn log_branch(&self, site: u64, by: Option<u64>) {
        if self.me.log().is_undecided() {
            self.me.log().put(&Record::Branch { site, by });
        }
    }

    /// Adds synchronisation to the log, unless it is a known library's own: of that only threads matter to others.
    pub fn log_sync(&self, op: SyncOp, object: usize, other: u64) {
        let is_life = matches!(op, SyncOp::Begin | SyncOp::End | SyncOp::Fork | SyncOp::Join);
        if is_life || !self.me.stack.is_in_known_library() {
            self.log_effect(op, object, other);
        }
    }

    /// Adds synchronisation to the log. Its place is where the thread last called out.
    pub fn log_effect(&self, op: SyncOp, object: usize, other: u64) {
        scheduler::note_progress();
        let site = self.me.site.get();
        let is_shared = shared::contains(object, 1);
        if scheduler::had_external() || is_shared {
            self.fence(site);
        }
        self.log_sync_record(&Record::Sync { site, op, object: object as u64, other });
        self.me.next.set(Operation::Other);
        if op.takes().is_some() {
            scheduler::note_taken(self.me, object);
        }
        if is_shared {
            // This may have informed any other thread that sees the object.
            self.fence(site);
        }
    }

    /// Adds to the log what is ordered with all synchronisation.
    pub fn log_sync_record(&self, record: &Record<'_>) {
        self.tell_calls();
        self.put_sync(record);
    }

    fn put_sync(&self, record: &Record<'_>) {
        if !mode::is_parallel() {
            return self.me.log().put(record);
        }
        let alone = self.sync.get();
        self.begin_alone();
        self.me.log().follow(self.sync.get().unwrap_or(0));
        self.me.log().put(record);
        self.sync.set(Some(self.me.log().clock - 1));
        if alone.is_none() {
            self.end_alone();
        }
    }

    /// Adds to the log that memory comes or goes.
    pub fn log_memory(&self, op: SyncOp, start: usize, bytes: usize) {
        let (site, object, other) = (self.me.site.get(), start as u64, bytes as u64);
        let record = Record::Sync { site, op, object, other };
        scheduler::note_block(self.me, start, bytes, op == SyncOp::Alloc);
        if mode::is_parallel() {
            self.locked(&Set::one(MEMORY), || self.log(&record));
        } else {
            scheduler::note_progress();
            self.log(&record);
        }
    }

    /// Adds bytes to the log, in as many records as they need.
    pub fn log_range(&self, bytes: &[u8], record: impl Fn(u64, &[u8]) -> Record<'_>) {
        for (index, piece) in bytes.chunks(LONGEST_RANGE).enumerate() {
            self.log(&record((index * LONGEST_RANGE) as u64, piece));
        }
    }
}

/// Does something out of our code, where the calling thread may be ended at any moment.
fn anywhere<R>(act: impl FnOnce() -> R) -> R {
    let (mut act, mut result) = (Some(act), None);
    (machine().do_cancellable)(&mut || result = act.take().map(|act| act()));
    result.unwrap_or_else(|| exit_now(1))
}

/// So many bytes of the program's memory, from where it says that they are; nothing at all if it says none.
pub fn content<'a>(at: *const c_void, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: the caller passes memory that an access of the program has just touched, or that its arguments name.
    unsafe { std::slice::from_raw_parts(at.cast(), bytes) }
}

/// The moment so long from now, in counted time. Rounded, because what is left of a time on a real clock never is the
/// same.
pub fn deadline_in(nanoseconds: u64) -> u64 {
    const GRAIN: u64 = 1_000_000;
    scheduler::clock().saturating_add(nanoseconds.div_ceil(GRAIN).saturating_mul(GRAIN))
}
