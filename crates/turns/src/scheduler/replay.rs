//! Replays a schedule: threads make their steps in its order, up to two accesses that race, where both are held, or up
//! to a deadlock (see [`stuck`]), or up to a use of memory that has been given back (see [`used`]).
//!
//! While it is followed, every thread asks before each step (see [`wait`]). A thread whose step is not due hands the
//! turn over to the one whose steps are. All counts are from the beginning of the thread, so an operation that makes
//! several steps at once does no harm. What is no step, a thread does as soon as it can.
//!
//! At the end both threads go on to the accesses that race, and are held before them. Then the one makes its access,
//! and right after it the other does. If a thread cannot come to where it should, the program has diverged; it is
//! terminated, and the outcome says so.
//!
//! Replay allocates nothing: what the program allocates lies where it lay when it was recorded.

mod stuck;
mod used;

pub(super) use stuck::settle;

use std::sync::atomic::{AtomicBool, Ordering};

use foretell_wire::log::IncompleteReason;
use foretell_wire::schedule::{
    Ending, GO_ON, HELD, HOLD, OUTCOME, RacingAction, ReplayOutcome, Schedule, ScheduledAccess,
    ScheduledTurn, Turns,
};

use super::{BlockedOn, RunState, SCHEDULER, Scheduler, WakeReason};
use crate::file;
use crate::folder;
use crate::mode::{self, Mode};
use crate::system::{exit_now, name_thread, now, pause, process_id};
use crate::thread::Thread;
use crate::turn::Turn;

/// How the process ends at the race, or where it leaves the schedule.
const CODE: i32 = 67;
/// So often a thread may pass where it could hand over, before it does so: it may wait for another thread.
const SILENCE: u32 = 10_000;
/// So often a thread looks again whether it can have what it waits for, while no other thread makes a step.
const LOOKS: u32 = 3;
/// So many nanoseconds may pass without a step while the thread whose turn it is does not come.
const PATIENCE: u64 = 5_000_000_000;
/// How often to look whether threads are to be held any longer.
const LOOK: u64 = 50_000_000;

/// The accesses that race are being made.
static RACING: AtomicBool = AtomicBool::new(false);

/// Memory, by where it begins and how many bytes it has.
type Range = (usize, usize);

/// Where a thread asks whether it may go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// Before an operation that makes a step. What memory it touches may be known.
    Step(Option<Range>),
    /// Before memory is given back.
    Free(Range),
    /// Where it synchronises, or has waited.
    Between,
    /// Before something that no thread notices.
    Silent,
}

/// How far the schedule was followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Its turns are taken.
    Turns,
    /// Both threads go on to their accesses.
    Meeting,
    /// The thread makes its access, and the other waits for that; at first the one with index 0.
    Racing(usize),
    /// One thread after the other goes on to where it waits, see [`stuck`].
    Sticking(usize),
    /// All of them wait.
    Stuck,
    /// One thread goes on until it has given memory back, see [`used`].
    Freeing,
    /// The other one goes on until it has used it.
    Using,
}

/// A schedule that is followed.
pub(super) struct ReplayedSchedule {
    ending: Ending<'static>,
    /// The turns after this one.
    turns: Turns<'static>,
    turn: Option<ScheduledTurn<'static>>,
    phase: Phase,
    /// Who has come to its access, and which memory that touches, as far as is known.
    arrived: [Option<Option<Range>>; 2],
    /// How many steps all threads had made when one of them last made one, and when that was.
    progress: (u64, u64),
    /// How often a thread has looked since whether it can have what it waits for.
    looks: u32,
    /// The thread that goes on to where it waits has been woken there once more.
    looks_again: bool,
}

/// The answer to a thread that asks whether it may continue.
enum ReplayAnswer {
    Go,
    Wait,
    /// Both threads have come to their accesses.
    Meet,
}

/// Begins to follow the schedule.
pub fn follow(schedule: &Schedule<'static>) {
    let mut turns = schedule.turns();
    let turn = turns.next();
    let given = ReplayedSchedule {
        ending: schedule.ending,
        turns,
        turn,
        phase: Phase::Turns,
        arrived: [None; 2],
        progress: (0, now()),
        looks: 0,
        looks_again: false,
    };
    SCHEDULER.with(|scheduler| scheduler.given = Some(given));
    mode::set(Mode::Schedule);
}

/// No thread follows a schedule any more: it is over, or this is another process.
pub fn let_go() {
    if mode::is_scheduled() {
        mode::set(Mode::Random);
    }
    RACING.store(false, Ordering::Relaxed);
    SCHEDULER.with(|scheduler| scheduler.given = None);
}

/// The thread, whose turn it is, waits until it may go on.
#[cold]
pub fn wait(turn: &Turn, point: Point) {
    let silence = turn.me.silence.get();
    if point == Point::Silent && silence < SILENCE {
        return turn.me.silence.set(silence + 1);
    }
    turn.me.silence.set(0);
    let steps = turn.me.log().steps;
    while steps >= turn.me.allowed.get() {
        match SCHEDULER.with(|scheduler| scheduler.may_go_on(turn.me, point)) {
            ReplayAnswer::Go => break,
            ReplayAnswer::Wait => drop(turn.hand_over(RunState::Ready)),
            ReplayAnswer::Meet => {
                hold();
                SCHEDULER.with(Scheduler::let_race);
            }
        }
    }
    if matches!(point, Point::Step(_)) {
        turn.me.began.set(steps);
    }
}

/// As long as a user wants to look at the threads, they are held there.
fn hold() {
    if !folder::has_file(HOLD) {
        return;
    }
    let [first, second] = SCHEDULER.with(|scheduler| scheduler.kernel_ids());
    folder::write_file(HELD, &format!("{} {first} {second}\n", process_id()));
    while folder::has_file(HOLD) {
        pause(LOOK);
    }
}

/// The thread has done what it came for. At the race that is its access.
#[cold]
pub fn has_acted(turn: &Turn) {
    if !RACING.load(Ordering::Relaxed) {
        return;
    }
    if SCHEDULER.with(|scheduler| scheduler.has_used(turn.me)) {
        return used::end();
    }
    let is_over = SCHEDULER.with(|scheduler| {
        let racing = match scheduler.given.as_ref().map(|given| given.phase) {
            Some(Phase::Racing(index))
                if scheduler.racing(index).is_some_and(|racing| racing.id == turn.me.id) =>
            {
                index
            }
            _ => return None,
        };
        if let Some(given) = &mut scheduler.given {
            given.phase = Phase::Racing(1);
        }
        Some(racing == 1)
    });
    match is_over {
        Some(false) => drop(turn.hand_over(RunState::Ready)),
        Some(true) => has_raced(),
        None => {}
    }
}

fn has_raced() {
    folder::write_file(OUTCOME, &ReplayOutcome::Raced.to_string());
    file::set_why(IncompleteReason::Raced);
    if folder::has_file(GO_ON) {
        return let_go();
    }
    exit_now(CODE)
}

/// The program ends, and the schedule is not over.
pub fn end() {
    SCHEDULER.with(|scheduler| {
        if scheduler.given.is_some() {
            scheduler.diverge("the program ended before");
        }
    });
}

/// The thread waits for its turn, and no thread has it: looks whether that will ever change.
pub(super) fn look() {
    if !mode::is_scheduled() {
        return;
    }
    settle();
    SCHEDULER.with(|scheduler| {
        let (is_idle, steps) = (scheduler.owner.is_none(), scheduler.steps());
        let Some(given) = &mut scheduler.given else { return };
        if given.progress.0 != steps {
            given.progress = (steps, now());
        } else if is_idle && given.phase != Phase::Stuck && now().saturating_sub(given.progress.1) > PATIENCE
        {
            scheduler.diverge("it is blocked in the kernel, or in uninstrumented code");
        }
    });
}

fn do_overlap(one: Option<Range>, other: Option<Range>) -> bool {
    let (Some((one, one_bytes)), Some((other, other_bytes))) = (one, other) else { return true };
    one < other.saturating_add(other_bytes) && other < one.saturating_add(one_bytes)
}

impl ReplayedSchedule {
    /// How many steps the thread of the turn makes. One that will race is not led beyond where it is held.
    fn end_of(&self, turn: ScheduledTurn<'_>) -> u64 {
        let held = self.accesses().iter().filter(|access| access.thread == turn.thread);
        held.map(|access| access.held).fold(turn.steps, u64::min)
    }

    /// The accesses that race, if that is what the schedule leads to.
    fn accesses(&self) -> &[ScheduledAccess<'static>] {
        match &self.ending {
            Ending::Race(accesses) => accesses,
            Ending::Stuck(_) | Ending::Used(_) => &[],
        }
    }

    /// The threads that the ending speaks of.
    fn last_threads(&self) -> impl Iterator<Item = &'static str> + Clone + '_ {
        let (accesses, waits) = match &self.ending {
            Ending::Race(accesses) | Ending::Used(accesses) => (&accesses[..], None),
            Ending::Stuck(circle) => (&[][..], Some(circle.waits())),
        };
        let accessing = accesses.iter().map(|access| access.thread);
        accessing.chain(waits.into_iter().flatten().map(|wait| wait.thread))
    }
}

impl Scheduler {
    /// The thread with this name.
    fn called(&self, name: &str) -> Option<&'static Thread> {
        self.slots.iter().map(|slot| slot.thread).find(|thread| thread.is_called(name))
    }

    /// The thread of one of the accesses.
    fn racing(&self, index: usize) -> Option<&'static Thread> {
        self.called(self.given.as_ref()?.accesses().get(index)?.thread)
    }

    /// The numbers of the first two threads that the ending speaks of.
    fn kernel_ids(&self) -> [i32; 2] {
        let thread = |index| self.called(self.given.as_ref()?.last_threads().nth(index)?);
        [0, 1].map(|index| thread(index).map_or(0, |thread| thread.kernel_id.load(Ordering::Relaxed)))
    }

    /// How many steps all threads have made.
    fn steps(&self) -> u64 {
        self.slots.iter().map(|slot| slot.thread.log().steps).sum()
    }

    /// Passes the turns that are over.
    fn pass_turns(&mut self) {
        let Some(mut given) = self.given.take() else { return };
        while let Some(turn) = given.turn {
            let steps = given.end_of(turn);
            let is_over = self.called(turn.thread).is_some_and(|thread| thread.log().steps >= steps);
            if !is_over && steps > 0 {
                break;
            }
            given.turn = given.turns.next();
        }
        if given.turn.is_none() && given.phase == Phase::Turns {
            given.phase = match given.ending {
                Ending::Race(_) => Phase::Meeting,
                Ending::Stuck(_) => Phase::Sticking(0),
                Ending::Used(_) => Phase::Freeing,
            };
        }
        self.given = Some(given);
    }

    fn may_go_on(&mut self, me: &'static Thread, point: Point) -> ReplayAnswer {
        self.pass_turns();
        let Some(given) = &self.given else { return ReplayAnswer::Go };
        let is_mine = |name: &str| me.is_called(name);
        match given.phase {
            Phase::Turns => match given.turn.filter(|turn| is_mine(turn.thread)) {
                Some(turn) => {
                    me.allowed.set(given.end_of(turn));
                    ReplayAnswer::Go
                }
                None => ReplayAnswer::Wait,
            },
            Phase::Racing(index) if given.accesses().get(index).is_some_and(|it| is_mine(it.thread)) => {
                ReplayAnswer::Go
            }
            Phase::Racing(_) | Phase::Stuck => ReplayAnswer::Wait,
            Phase::Meeting => match given.accesses().iter().position(|access| is_mine(access.thread)) {
                Some(index) => self.may_go_to_meet(index, me, point),
                None => ReplayAnswer::Wait,
            },
            Phase::Sticking(_) => self.may_go_to_wait(me),
            Phase::Freeing | Phase::Using => self.may_go_to_use(me, point),
        }
    }

    /// Whether the thread of one of the accesses, which is on its way there, may go on.
    fn may_go_to_meet(&mut self, index: usize, me: &'static Thread, point: Point) -> ReplayAnswer {
        let Some(given) = &mut self.given else { return ReplayAnswer::Go };
        let Ending::Race(accesses) = given.ending else { return ReplayAnswer::Go };
        let access = accesses[index];
        if given.arrived[index].is_some() {
            return ReplayAnswer::Wait;
        }
        let steps = me.log().steps;
        if steps > access.held {
            self.is_past(index, me.began.get());
        }
        if steps < access.held {
            me.allowed.set(access.held);
            return ReplayAnswer::Go;
        }
        let range = match (point, access.kind) {
            (Point::Step(range), RacingAction::Read | RacingAction::Write) => range,
            (Point::Free(range), RacingAction::Free) => Some(range),
            _ => return ReplayAnswer::Go,
        };
        let other = given.arrived[1 - index];
        match other {
            // Who gives memory back has to know which.
            None if access.kind == RacingAction::Free && accesses[1 - index].kind != RacingAction::Free => {
                return ReplayAnswer::Wait;
            }
            // Other memory is given back on the way.
            Some(other) if access.kind == RacingAction::Free && !do_overlap(range, other) => {
                return ReplayAnswer::Go;
            }
            _ => {}
        }
        given.arrived[index] = Some(range);
        name_thread(if index == 0 { c"race: first" } else { c"race: second" });
        match other {
            None => ReplayAnswer::Wait,
            Some(other) if do_overlap(range, other) => ReplayAnswer::Meet,
            Some(_) => {
                self.diverge("it is about to access other memory than the thread that it should race with")
            }
        }
    }

    /// The thread of an access has gone past it. Perhaps that is a part of an operation which has begun earlier.
    fn is_past(&mut self, index: usize, began: u64) -> ! {
        let held = self.given.as_ref().and_then(|given| given.accesses().get(index)).map_or(0, |it| it.held);
        if began < held {
            self.finish(&ReplayOutcome::Passed(index, began));
        }
        self.diverge("it did something else instead")
    }

    fn let_race(&mut self) {
        if let Some(given) = &mut self.given {
            given.phase = Phase::Racing(0);
            RACING.store(true, Ordering::Relaxed);
        }
    }

    /// The thread that is to go on, and where to: what it is called, its step, and the place.
    fn wanted(&self) -> Option<(&'static str, u64, &'static str)> {
        let given = self.given.as_ref()?;
        let accesses = match (given.phase, given.turn, given.ending) {
            (Phase::Turns, Some(turn), _) => return Some((turn.thread, turn.steps, turn.place)),
            (_, _, Ending::Stuck(_)) => return self.wanted_to_wait(),
            (_, _, Ending::Used(_)) => return self.wanted_to_use(),
            (_, _, Ending::Race(accesses)) => accesses,
        };
        let index = match given.phase {
            Phase::Racing(index) => index,
            // Who gives memory back has to know which.
            _ if given.arrived[0].is_some() => 1,
            _ if given.arrived[1].is_none() && accesses[0].kind == RacingAction::Free => 1,
            _ => 0,
        };
        let access = accesses[index];
        Some((access.thread, access.step, access.place))
    }

    /// Gives the turn to the thread that is to go on. Says whether there is a schedule that tells.
    pub(super) fn choose_as_given(&mut self) -> bool {
        self.pass_turns();
        self.pass_waits();
        self.pass_free();
        if self.given.as_ref().is_some_and(|given| given.phase == Phase::Stuck) {
            self.owner = None;
            return true;
        }
        let Some((name, ..)) = self.wanted() else { return false };
        self.owner = None;
        let thread = self.called(name);
        let Some((thread, state)) = thread.and_then(|thread| Some((thread, self.slot(thread)?.state))) else {
            self.diverge("it was not started");
        };
        match state {
            RunState::Ready | RunState::Last => self.give_turn(thread),
            RunState::Waiting(waiting) => self.end_wait_as_given(thread, waiting),
            RunState::Away => {}
            RunState::Done => self.diverge("it has ended"),
        }
        true
    }

    /// A thread waits that is to go on.
    fn end_wait_as_given(&mut self, thread: &'static Thread, waiting: BlockedOn) {
        let steps = self.steps();
        if let Some(given) = &mut self.given {
            if given.progress.0 != steps {
                (given.progress, given.looks) = ((steps, now()), 0);
            }
            given.looks += 1;
        }
        if waiting.deadline.is_some() {
            self.make_ready(thread.id, WakeReason::TimedOut);
        } else if waiting.looks_again() && self.given.as_ref().is_some_and(|given| given.looks <= LOOKS) {
            self.make_ready(thread.id, WakeReason::Woken);
        } else if self.may_be_helped(thread) {
            // It looks again by itself.
            return;
        } else {
            self.diverge("blocked: no thread can release or signal what it waits for");
        }
        self.give_turn(thread);
    }

    /// Of threads that wait for the same, the one goes on first whose turn comes first.
    pub(super) fn sort_as_given(&self, waiters: &mut [(u64, u32)]) {
        const FAR: usize = 10_000;
        let Some(given) = &self.given else { return };
        let turns = given.turn.into_iter().chain(given.turns).take(FAR).map(|turn| turn.thread);
        let coming = turns.chain(given.last_threads());
        let place = |id: u32| {
            let thread = self.slots.get(id as usize).map(|slot| slot.thread);
            thread
                .and_then(|thread| coming.clone().position(|name| thread.is_called(name)))
                .unwrap_or(usize::MAX)
        };
        waiters.sort_by_key(|&(since, id)| (place(id), since));
    }

    /// The thread that is to go on cannot.
    fn diverge(&self, why: &str) -> ! {
        let (thread, step, place) = self.wanted().unwrap_or_default();
        let made = self.called(thread).map_or(0, |thread| thread.log().steps);
        let goal = format!("was to come to its step {step} at {place}, and has made {made}");
        self.finish(&ReplayOutcome::Diverged(thread.to_string(), format!("{goal}: {why}")))
    }

    fn finish(&self, outcome: &ReplayOutcome) -> ! {
        folder::write_file(OUTCOME, &outcome.to_string());
        file::set_why(IncompleteReason::Diverged);
        exit_now(CODE)
    }
}
