//! CP: causally-precedes.
//!
//! Paper: Smaragdakis, Evans, Sadowski, Yi, Flanagan: Sound predictive race detection in polynomial time, POPL 2012.
//! The least order such that (a) the end of a section precedes the beginning of a later section of the same lock if the
//! two contain conflicting accesses; (b) likewise if an event of the first precedes an event of the second; (c)
//! happens-before may be composed on both sides. A pair that neither this order nor thread order puts in order is
//! reported.
//!
//! **Changed:** the paper closes a relation over windows of the trace. Here the whole trace is one window.
//! * All edges lead from an end to a beginning of sections of one lock, and those are ordered by happens-before, so of
//!   all edges into a section only the one from the latest section matters: a number for each section (`from`).
//! * Given these numbers, one pass with vector clocks yields what precedes each event. The beginnings that precede an
//!   end are those of a prefix of the lock's sections; where that prefix is longer than the section's number, rule (b)
//!   raises the number. Passes are repeated until no number changes. A raised number calls for another pass only if
//!   something inside the section was made known to others before its end; else the end hands on all that is new.
//! * An event may change what precedes events before it, so pairs are known only at the end of the trace. Kept until
//!   then: some thirty bytes for each access, and a clock for each section and each hard edge.
//! * Atomics, allocation, semaphores, waits and barriers are hard edges (see the module `hard`), as fork and join are.
//! * Read-write locks: shared sections between two exclusive ones are taken as one unit. If an edge leads from one of
//!   them to a later section, it leads from all. This is careful: happens-before orders the unit as a whole before that
//!   section, so the order stays within happens-before, but it may be larger than it need be. Rules (a) and (b) apply
//!   to two sections unless both are shared. Where a thread holds a lock in both modes the two sections overlap, and an
//!   edge from the one that ends first hides one from the other: then a pair may be reported that the order has.
//!
//! **Guarantee:** none; candidates. The first report is a race or shows that a deadlock is possible; which of them, and
//! whether any later report is a race, is not known.
//!
//! **May miss:** all that weak causally-precedes misses, and more: this order also has what comes before the
//! conflicting access in the second section. On the other hand it reports fewer pairs that are no races.

use foretell_trace::{Event, EventId, LockId, LockMode, ThreadId, VarId};
use rustc_hash::FxHashMap;

use crate::Detector;
use crate::accesses::{Accesses, Now};
use crate::clock::{Clock, Time};
use crate::hard::{Hard, HardPredecessors, Learners};
use crate::lock_set::{LockSetId, LockSets};
use crate::report::Reports;
use crate::table::at;

/// Causally-precedes.
#[derive(Debug, Default)]
pub struct Cp {
    /// Happens-before.
    hard: Hard,
    /// How many threads have been met.
    threads: usize,
    /// The open sections of each thread.
    open: Vec<Vec<usize>>,
    locks: Vec<LockUnits>,
    /// For each lock and variable, the last units in which the variable was touched.
    guarded: FxHashMap<(LockId, VarId), GuardedUnits>,
    /// Every section so far.
    sections: Vec<CpSection>,
    /// What the passes go through, in the order of the trace, each with the number of accesses before it.
    steps: Vec<(usize, Growth)>,
    /// Every access, in the order of the trace.
    accesses: Vec<Now>,
}

/// What may change what precedes.
#[derive(Debug)]
enum Growth {
    /// Along a hard edge.
    Learn(ThreadId, Clock),
    Begin(usize),
    End(usize),
}

#[derive(Debug)]
struct CpSection {
    thread: ThreadId,
    lock: LockId,
    mode: LockMode,
    /// Its unit among those of the lock.
    unit: usize,
    /// The local time of its beginning.
    began: Time,
    /// Whether something inside it was made known to others before its end.
    leaks: bool,
    /// How many units of the lock, from the first, end before this section begins. Only grows.
    from: usize,
}

/// An exclusive section, or the shared sections between two exclusive ones.
#[derive(Debug)]
struct Unit {
    mode: LockMode,
    /// Who began a section of it, and when. Shared units may have more than one.
    begins: Vec<(ThreadId, Time)>,
    /// What happened before the ends of its sections.
    end: Clock,
}

#[derive(Debug, Default)]
struct LockUnits {
    /// In the order of the trace, which is that of happens-before.
    units: Vec<Unit>,
    /// The last exclusive unit that has ended.
    exclusive: Option<usize>,
    /// What happened before the ends of shared sections so far.
    shared: Clock,
}

/// The last units in which a variable was touched, or written.
#[derive(Debug, Default)]
struct GuardedUnits {
    touched: [LatestUnit; 2],
    written: [LatestUnit; 2],
}

/// The number of the last unit, and that of the last unit in which another thread did the same. Counted from 1.
#[derive(Clone, Copy, Debug, Default)]
struct LatestUnit {
    last: Option<(ThreadId, usize)>,
    other: usize,
}

impl LatestUnit {
    fn of_others(&self, thread: ThreadId) -> usize {
        match self.last {
            Some((last, unit)) if last != thread => unit,
            _ => self.other,
        }
    }

    fn put(&mut self, thread: ThreadId, unit: usize) {
        if let Some((last, before)) = self.last
            && last != thread
        {
            self.other = before;
        }
        self.last = Some((thread, unit));
    }
}

impl Detector for Cp {
    fn event(&mut self, id: EventId, event: &Event, _reports: &mut Reports) {
        let me = event.thread;
        self.meet(me);
        if let Some(learnt) = self.hard.enter(event) {
            self.steps.push((self.accesses.len(), Growth::Learn(me, learnt.clone())));
        }
        if let Some(access) = event.op.access() {
            let (time, locks) = (self.hard.clocks.of(me).get(me), LockSetId::default());
            self.access(Now { id, loc: event.loc, thread: me, access, time, locks });
        } else if let Some((lock, mode)) = event.op.section_begin() {
            self.begin(me, lock, mode);
        } else if let Some((lock, mode)) = event.op.section_end() {
            self.end(me, lock, mode);
        }
        match self.hard.leave(event) {
            Learners::None => {}
            Learners::Child(child) => self.tell(child),
            Learners::AllThreads => {
                for thread in (0..self.threads).filter_map(ThreadId::from_index) {
                    self.tell(thread);
                }
            }
        }
    }

    fn finish(&mut self, reports: &mut Reports) {
        self.leave_open_sections();
        while ClosurePass::new(self.threads, self.locks.len()).run(self) {}
        let mut pass = ClosurePass::new(self.threads, self.locks.len());
        pass.check(self, reports);
    }
}

impl Cp {
    /// A thread that is seen for the first time knows what all threads know from the start.
    fn meet(&mut self, thread: ThreadId) {
        while self.threads <= thread.index() {
            let Some(new) = ThreadId::from_index(self.threads) else { return };
            self.threads += 1;
            self.tell(new);
        }
    }

    fn tell(&mut self, thread: ThreadId) {
        self.meet(thread);
        let learnt = self.hard.learnt_clock(thread);
        self.steps.push((self.accesses.len(), Growth::Learn(thread, learnt)));
    }

    /// Rule (a), and note of the access.
    fn access(&mut self, now: Now) {
        for &section in at(&mut self.open, now.thread.index()).iter() {
            let section = &mut self.sections[section];
            let guarded = self.guarded.entry((section.lock, now.access.var)).or_default();
            let writes = now.access.kind.writes();
            section.from = section.from.max(guarded.conflicting(now.thread, section.mode, writes));
            guarded.put(now.thread, section.mode, writes, section.unit + 1);
        }
        self.accesses.push(now);
    }

    fn begin(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let clock = self.hard.clocks.of(thread);
        let began = clock.get(thread);
        let state = at(&mut self.locks, lock.index());
        if let Some(last) = state.exclusive {
            clock.join(&state.units[last].end);
        }
        if mode == LockMode::Exclusive {
            clock.join(&state.shared);
        }
        let unit = state.enter_unit(mode, thread, began);
        at(&mut self.open, thread.index()).push(self.sections.len());
        self.steps.push((self.accesses.len(), Growth::Begin(self.sections.len())));
        self.sections.push(CpSection { thread, lock, mode, unit, began, leaks: false, from: 0 });
    }

    fn end(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let open = at(&mut self.open, thread.index());
        let sections = &mut self.sections;
        let found = open.iter().rposition(|&section| {
            let section = &sections[section];
            (section.lock, section.mode) == (lock, mode)
        });
        let Some(position) = found else { return };
        let index = open.remove(position);
        let clock = self.hard.clocks.of(thread);
        let section = &mut sections[index];
        section.leaks = section.began < clock.get(thread);
        let state = at(&mut self.locks, lock.index());
        state.units[section.unit].end.join(clock);
        match mode {
            LockMode::Exclusive => state.exclusive = Some(section.unit),
            LockMode::Shared => state.shared.join(clock),
        }
        self.hard.clocks.advance(thread);
        self.steps.push((self.accesses.len(), Growth::End(index)));
    }

    /// Rule (b) also leads into sections that the trace leaves open.
    fn leave_open_sections(&mut self) {
        for &section in self.open.iter().flatten() {
            let section = &mut self.sections[section];
            section.leaks = section.began < self.hard.clocks.of(section.thread).get(section.thread);
        }
    }
}

impl GuardedUnits {
    /// The number of the last unit with an access of another thread that conflicts.
    fn conflicting(&self, thread: ThreadId, mode: LockMode, writes: bool) -> usize {
        let [shared, exclusive] = if writes { &self.touched } else { &self.written };
        let exclusive = exclusive.of_others(thread);
        match mode {
            LockMode::Exclusive => exclusive.max(shared.of_others(thread)),
            LockMode::Shared => exclusive,
        }
    }

    fn put(&mut self, thread: ThreadId, mode: LockMode, writes: bool, unit: usize) {
        self.touched[mode as usize].put(thread, unit);
        if writes {
            self.written[mode as usize].put(thread, unit);
        }
    }
}

impl LockUnits {
    /// The unit that a section belongs to which begins now.
    fn enter_unit(&mut self, mode: LockMode, thread: ThreadId, began: Time) -> usize {
        if mode == LockMode::Shared
            && let Some(last) = self.units.last_mut()
            && last.mode == LockMode::Shared
        {
            last.begins.push((thread, began));
        } else {
            self.units.push(Unit { mode, begins: vec![(thread, began)], end: Clock::default() });
        }
        self.units.len() - 1
    }

    /// How many units, from the first, have a beginning that precedes the end of `section`; at least `least`.
    fn preceding(&self, section: &CpSection, least: usize, known: &HardPredecessors) -> usize {
        let precedes = |unit: &Unit| unit.begins.iter().any(|&(thread, began)| known.knows(thread, began));
        let mut count = least;
        for (index, unit) in self.units.iter().enumerate().take(section.unit).skip(least) {
            if !section.mode.excludes(unit.mode) {
                continue;
            }
            if !precedes(unit) {
                break;
            }
            count = index + 1;
        }
        count
    }
}

/// One pass over the trace.
struct ClosurePass {
    threads: Vec<HardPredecessors>,
    locks: Vec<LockPass>,
}

/// What the sections of a lock so far leave behind, in one pass.
#[derive(Clone, Default)]
struct LockPass {
    /// What precedes the end of the last exclusive section.
    exclusive: Clock,
    /// What precedes the ends of shared sections so far.
    shared: Clock,
    /// How many units, from the first, end before the last exclusive section began.
    from: usize,
}

impl ClosurePass {
    fn new(threads: usize, locks: usize) -> ClosurePass {
        let threads = (0..threads).filter_map(ThreadId::from_index).map(HardPredecessors::new).collect();
        ClosurePass { threads, locks: vec![LockPass::default(); locks] }
    }

    /// Goes through the trace; whether another pass may find more.
    fn run(mut self, cp: &mut Cp) -> bool {
        let Cp { steps, sections, locks, open, .. } = cp;
        let mut more = false;
        for (_, step) in steps.iter() {
            more |= self.step(step, sections, locks);
        }
        // What one open section learns may reach another of the same thread.
        let mut raised = true;
        while raised {
            raised = false;
            for &section in open.iter().flatten() {
                let section = &mut sections[section];
                if self.raise(section, &locks[section.lock.index()]) {
                    raised = true;
                    more |= section.leaks;
                }
            }
        }
        more
    }

    /// Goes through the trace once all edges are known, and looks at the accesses.
    fn check(&mut self, cp: &mut Cp, reports: &mut Reports) {
        let Cp { steps, sections, locks, accesses, .. } = cp;
        let sets = LockSets::default();
        let mut past = Accesses::default();
        let mut steps = steps.iter().peekable();
        for (index, now) in accesses.iter().enumerate() {
            while let Some((_, step)) = steps.next_if(|(before, _)| *before <= index) {
                self.step(step, sections, locks);
            }
            past.check(now, self.threads[now.thread.index()].clock(), &sets, reports);
            past.record(now, &sets, reports.wanted());
        }
    }

    /// Whether rule (b) found something that may concern events before this step.
    fn step(&mut self, step: &Growth, sections: &mut [CpSection], locks: &[LockUnits]) -> bool {
        match step {
            Growth::Learn(thread, clock) => {
                self.threads[thread.index()].learn(clock);
                false
            }
            &Growth::Begin(section) => {
                let section = &sections[section];
                self.begin(section, &locks[section.lock.index()]);
                false
            }
            &Growth::End(section) => {
                let section = &mut sections[section];
                let raised = self.raise(section, &locks[section.lock.index()]);
                self.end(section);
                raised && section.leaks
            }
        }
    }

    fn begin(&mut self, section: &CpSection, lock: &LockUnits) {
        let known = &mut self.threads[section.thread.index()];
        let state = &self.locks[section.lock.index()];
        known.learn(&state.exclusive);
        if section.mode == LockMode::Exclusive {
            known.learn(&state.shared);
        }
        if section.from > state.from {
            known.learn(&lock.units[section.from - 1].end);
        }
    }

    /// Rule (b) at the end of a section.
    fn raise(&mut self, section: &mut CpSection, lock: &LockUnits) -> bool {
        let known = &mut self.threads[section.thread.index()];
        let before = section.from.max(self.locks[section.lock.index()].from);
        let mut from = before;
        loop {
            let count = lock.preceding(section, from, known);
            if count == from {
                break;
            }
            from = count;
            known.learn(&lock.units[from - 1].end);
        }
        section.from = from;
        from > before
    }

    fn end(&mut self, section: &CpSection) {
        let known = &self.threads[section.thread.index()];
        let state = &mut self.locks[section.lock.index()];
        match section.mode {
            LockMode::Exclusive => {
                known.copy_to(&mut state.exclusive);
                state.from = section.from;
            }
            LockMode::Shared => {
                let mut preceding = Clock::default();
                known.copy_to(&mut preceding);
                state.shared.join(&preceding);
            }
        }
    }
}
