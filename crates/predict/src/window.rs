//! A piece of a trace, and what a schedule of it has to keep to so that two of its accesses become adjacent.
//!
//! Events of a window are named by their place in it. What lies outside is treated in one of two ways:
//! * [`Border::Fixed`]: everything before the window has run as observed, nothing after it runs. A schedule of the window
//!   then is a schedule of the trace, but the trace may have others.
//! * [`Border::Open`]: whatever concerns events outside is left out. Every schedule of the trace that brings the two
//!   accesses together gives one of the window, but not the other way round: what is impossible here is impossible.
//!
//! For a window that is the whole trace the two are the same.

use foretell_trace::{Event, LockId, LockMode, Op, VarId};
use rustc_hash::FxHashMap;

use crate::causal::Causal;
use crate::index::{Index, NONE, Seen};
use crate::verdict::Pinning;

/// How the events outside of a window are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Border {
    Fixed,
    Open,
}

/// What a window is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// The two accesses, by their indices in the trace.
    pub(crate) pair: (u32, u32),
    /// Which reads must be faithful.
    pub(crate) pinning: Pinning,
    /// Whether faithful means the same write, even where the trace shows values.
    pub(crate) same_write: bool,
    /// If all events have to run, not just a prefix that ends with the race: the two accesses in the order in which
    /// they then run, one right after the other.
    pub(crate) twins: Option<[u32; 2]>,
}

/// The end of a section that cannot run.
pub(crate) const NEVER: u32 = NONE;
/// The end of a section that lies outside of the window and may run.
pub(crate) const BEYOND: u32 = NONE - 1;
/// The beginning of a section that has run before the window.
pub(crate) const BEFORE: u32 = NONE - 2;

/// A piece of a trace with the constraints on its schedules.
#[derive(Debug)]
pub(crate) struct Window<'i> {
    pub(crate) index: &'i Index<'i>,
    /// What is ordered at a glance, if that is to be used.
    causal: Option<&'i Causal>,
    pub(crate) border: Border,
    pub(crate) question: Question,
    /// Which events of the trace these are.
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// The two accesses.
    pub(crate) racing: [u32; 2],
    /// The two accesses in the order in which they run, if all events have to run.
    pub(crate) twins: Option<[u32; 2]>,
    /// The thread of each event, numbered within the window.
    pub(crate) thread: Vec<u32>,
    /// Where each event stands among those of its thread.
    pub(crate) place: Vec<u32>,
    pub(crate) threads: Vec<Vec<u32>>,
    /// How many events of each thread may run.
    pub(crate) limit: Vec<u32>,
    /// For each event, where its part of `needs` ends.
    need_ends: Vec<u32>,
    /// The events of other threads that must run before an event of this window does.
    needs: Vec<u32>,
    /// For each event, the number of its variable, or [`NONE`].
    pub(crate) var: Vec<u32>,
    pub(crate) vars: Vec<Variable>,
    /// What each event must see if it reads.
    domains: Vec<Domain>,
    /// The writes of the same value to the same variable.
    groups: Vec<Vec<u32>>,
    outsides: Vec<Outside>,
    pub(crate) sections: Vec<Section>,
    /// The sections of each thread, in the order of their beginnings.
    pub(crate) sections_of: Vec<Vec<u32>>,
    /// The section that ends at an event.
    section_ending: FxHashMap<u32, u32>,
    pub(crate) locks: Vec<Lock>,
    /// Attempts to lock that failed.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) semaphores: Vec<Semaphore>,
    /// For a return from a wait, the notification that must come after the wait.
    pub(crate) notifications: FxHashMap<u32, u32>,
    /// The events that no recorded write explains.
    pub(crate) fences: Vec<u32>,
}

/// The accesses to one variable.
#[derive(Debug, Default)]
pub(crate) struct Variable {
    /// All of them, in the order of the trace.
    pub(crate) accesses: Vec<u32>,
    /// The writes, by thread.
    pub(crate) writes: Vec<(u32, Vec<u32>)>,
    /// The end of its memory, or [`NONE`].
    pub(crate) free: u32,
}

/// What a read must see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Domain {
    /// Anything will do, as far as this window tells.
    Free,
    /// This write.
    Write(u32),
    /// What was there before the window.
    Entry,
    /// One of a group of writes, or what was there before the window.
    Group { group: u32, entry: bool },
    /// One of a group of writes, or something outside of the window.
    Beyond { group: u32, outside: u32 },
}

/// Who outside of the window writes what a read must see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// Threads that do so before the window.
    pub(crate) before: Vec<u32>,
    /// Threads that do so after the window.
    pub(crate) after: Vec<u32>,
    /// Nobody need: it is there at first.
    pub(crate) initial: bool,
    /// Somebody of whom this window shows nothing.
    pub(crate) absent: bool,
}

/// A time during which a thread holds a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) mode: LockMode,
    pub(crate) thread: u32,
    /// Its first event, or [`BEFORE`].
    pub(crate) begin: u32,
    /// Its last event, [`NEVER`] or [`BEYOND`].
    pub(crate) end: u32,
}

impl Section {
    pub(crate) fn excludes(&self, other: &Section) -> bool {
        self.thread != other.thread && self.mode.excludes(other.mode)
    }

    /// Whether its end is an event of the window that may run.
    pub(crate) fn ends(&self) -> bool {
        self.end < BEFORE
    }
}

/// The sections of one lock.
#[derive(Debug, Default)]
pub(crate) struct Lock {
    /// By thread and mode, in the order of their beginnings.
    pub(crate) sections: Vec<(u32, LockMode, Vec<u32>)>,
    /// Those that have begun before the window.
    pub(crate) held: Vec<u32>,
}

/// An attempt to lock that failed because somebody held the lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) event: u32,
    pub(crate) lock: u32,
    /// What the attempt wanted.
    pub(crate) mode: LockMode,
}

/// The operations on one semaphore.
#[derive(Debug)]
pub(crate) struct Semaphore {
    /// The permits before the window; `None` if it is created in the window.
    pub(crate) permits: Option<u64>,
    pub(crate) ops: Vec<u32>,
}

impl<'i> Window<'i> {
    /// The window that holds the events of the trace from `begin` up to `end`, both racing ones among them.
    pub(crate) fn new(
        index: &'i Index<'i>,
        causal: Option<&'i Causal>,
        border: Border,
        question: Question,
        begin: u32,
        end: u32,
    ) -> Window<'i> {
        let size = (end - begin) as usize;
        let mut window = Window {
            index,
            causal,
            border,
            question,
            begin,
            end,
            racing: [question.pair.0 - begin, question.pair.1 - begin],
            twins: question.twins.map(|twins| twins.map(|event| event - begin)),
            thread: Vec::with_capacity(size),
            place: Vec::with_capacity(size),
            threads: Vec::new(),
            limit: Vec::new(),
            need_ends: Vec::with_capacity(size),
            needs: Vec::new(),
            var: vec![NONE; size],
            vars: Vec::new(),
            domains: vec![Domain::Free; size],
            groups: Vec::new(),
            outsides: Vec::new(),
            sections: Vec::new(),
            sections_of: Vec::new(),
            section_ending: FxHashMap::default(),
            locks: Vec::new(),
            attempts: Vec::new(),
            semaphores: Vec::new(),
            notifications: FxHashMap::default(),
            fences: index
                .fences
                .iter()
                .filter(|fence| (begin..end).contains(fence))
                .map(|f| f - begin)
                .collect(),
        };
        Builder::new(&mut window).build();
        window
    }

    pub(crate) fn len(&self) -> u32 {
        self.end - self.begin
    }

    pub(crate) fn event(&self, event: u32) -> &'i Event {
        self.index.event(self.begin + event)
    }

    pub(crate) fn op(&self, event: u32) -> Op {
        self.event(event).op
    }

    /// The events of other threads that must run before this one.
    pub(crate) fn needs(&self, event: u32) -> &[u32] {
        let begin = event.checked_sub(1).map_or(0, |before| self.need_ends[before as usize]);
        &self.needs[begin as usize..self.need_ends[event as usize] as usize]
    }

    /// What a read must see, if it is to be faithful.
    pub(crate) fn domain(&self, read: u32) -> Domain {
        self.domains[read as usize]
    }

    pub(crate) fn group(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }

    pub(crate) fn outside(&self, outside: u32) -> &Outside {
        &self.outsides[outside as usize]
    }

    /// Whether the event is one that changes what its variable holds.
    pub(crate) fn changes_memory(&self, event: u32) -> bool {
        self.index.changes_memory(self.begin + event).is_some()
    }

    /// The section that ends at the event.
    pub(crate) fn section_ending(&self, event: u32) -> Option<u32> {
        self.section_ending.get(&event).copied()
    }

    /// The variable that the event accesses.
    pub(crate) fn variable(&self, event: u32) -> Option<&Variable> {
        self.vars.get(self.var[event as usize] as usize)
    }

    /// The event at a place of a thread.
    pub(crate) fn at(&self, thread: u32, place: u32) -> u32 {
        self.threads[thread as usize][place as usize]
    }

    /// The event before this one in its thread.
    pub(crate) fn before(&self, event: u32) -> Option<u32> {
        let place = self.place[event as usize].checked_sub(1)?;
        Some(self.at(self.thread[event as usize], place))
    }

    /// Whether the thread is one of the two that race.
    pub(crate) fn is_racing(&self, thread: u32) -> bool {
        self.racing.iter().any(|&event| self.thread[event as usize] == thread)
    }

    /// If `count` events of the thread run, and then a racing one if it has any: how many of them have to see
    /// what they saw.
    pub(crate) fn faithful_until(&self, thread: u32, count: u32) -> u32 {
        let Some(last) = count.checked_sub(1) else { return 0 };
        match self.question.pinning {
            _ if self.twins.is_some() => count,
            Pinning::SameWrite => count,
            Pinning::SameValue if self.is_racing(thread) => count,
            Pinning::SameValue => last,
            Pinning::ControlFlow => {
                let events = &self.threads[thread as usize][..count as usize];
                let branch = events.iter().rposition(|&event| self.op(event) == Op::Branch);
                // A thread has fewer than 2^32 events.
                branch.map_or(0, |place| u32::try_from(place).unwrap_or(last))
            }
        }
    }
}

impl Window<'_> {
    /// Lets no more events run than these.
    pub(crate) fn restrict(&mut self, limit: Vec<u32>) {
        self.limit = limit;
        for section in &mut self.sections {
            if section.ends() && self.place[section.end as usize] >= self.limit[section.thread as usize] {
                self.section_ending.remove(&section.end);
                section.end = NEVER;
            }
        }
    }

    /// Two accesses that run one right after the other are one for all others: what comes before the second comes
    /// before the first, and what comes after the first comes after the second.
    pub(crate) fn as_twins(&self, from: u32, to: u32) -> (u32, u32) {
        match self.twins {
            Some([first, second]) if to == second && from != first => (from, first),
            Some([first, second]) if from == first && to != second => (second, to),
            _ => (from, to),
        }
    }
}

/// Fills a window in one pass over its events.
struct Builder<'w, 'i> {
    window: &'w mut Window<'i>,
    threads: FxHashMap<usize, u32>,
    vars: FxHashMap<VarId, u32>,
    locks: FxHashMap<LockId, u32>,
    sems: FxHashMap<usize, u32>,
    groups: FxHashMap<(VarId, foretell_trace::Value), u32>,
    /// For each group of writes, who else writes the same.
    outsides: FxHashMap<u32, u32>,
    /// For each thread, how many of its events can run, as far as is known; [`NONE`] for all.
    cut: Vec<u32>,
    /// The last fence of the window so far, and which threads have had an event since.
    fence: Option<(u32, Vec<bool>)>,
}

impl<'w, 'i> Builder<'w, 'i> {
    fn new(window: &'w mut Window<'i>) -> Builder<'w, 'i> {
        Builder {
            window,
            threads: FxHashMap::default(),
            vars: FxHashMap::default(),
            locks: FxHashMap::default(),
            sems: FxHashMap::default(),
            groups: FxHashMap::default(),
            outsides: FxHashMap::default(),
            cut: Vec::new(),
            fence: None,
        }
    }

    fn build(mut self) {
        self.enter();
        for event in 0..self.window.len() {
            self.add(event);
        }
        for thread in 0..self.window.threads.len() {
            // A thread has fewer than 2^32 events.
            let all = u32::try_from(self.window.threads[thread].len()).unwrap_or(NONE);
            self.window.limit.push(self.cut[thread].min(all));
        }
        self.settle_reads();
        self.settle_sections();
    }

    /// Sections that are open when the window begins.
    fn enter(&mut self) {
        let index = self.window.index;
        if self.window.begin == 0 {
            return;
        }
        for thread in 0..index.threads.len() {
            let events = &index.threads[thread];
            let count = events.partition_point(|&event| event < self.window.begin);
            let first = events.get(count).filter(|&&event| event < self.window.end);
            // Without any event here the thread matters only in what it holds, and only if that is certain.
            if first.is_none() && self.window.border == Border::Open {
                continue;
            }
            let count = u32::try_from(count).unwrap_or(NONE);
            for begin in index.sections_after(thread, count) {
                let begins = match self.window.border {
                    Border::Fixed => BEFORE,
                    // It begins before the first event of its thread here; nothing more is known.
                    Border::Open => first.map_or(BEFORE, |first| first - self.window.begin),
                };
                self.begin_section(thread, begin, begins);
            }
        }
    }

    fn thread(&mut self, thread: usize) -> u32 {
        let Builder { threads, window, cut, .. } = self;
        *threads.entry(thread).or_insert_with(|| {
            window.threads.push(Vec::new());
            window.sections_of.push(Vec::new());
            cut.push(NONE);
            number(window.threads.len() - 1)
        })
    }

    fn lock(&mut self, lock: LockId) -> u32 {
        let Builder { locks, window, .. } = self;
        *locks.entry(lock).or_insert_with(|| {
            window.locks.push(Lock::default());
            number(window.locks.len() - 1)
        })
    }

    fn var(&mut self, var: VarId) -> u32 {
        let Builder { vars, window, .. } = self;
        *vars.entry(var).or_insert_with(|| {
            window.vars.push(Variable { free: NONE, ..Variable::default() });
            number(window.vars.len() - 1)
        })
    }

    fn sem(&mut self, sem: usize) -> u32 {
        let Builder { sems, window, .. } = self;
        *sems.entry(sem).or_insert_with(|| {
            let permits = window.index.permits(sem, window.begin);
            window.semaphores.push(Semaphore { permits, ops: Vec::new() });
            number(window.semaphores.len() - 1)
        })
    }

    fn add(&mut self, event: u32) {
        let global = self.window.begin + event;
        let step = self.window.index.event(global);
        let thread = self.thread(step.thread.index());
        let events = &mut self.window.threads[thread as usize];
        let place = number(events.len());
        events.push(event);
        self.window.thread.push(thread);
        self.window.place.push(place);
        self.add_needs(event, step);
        self.add_access(event, step);
        self.add_synchronisation(event, step);
        if self.cannot_run(event, step) {
            let cut = &mut self.cut[thread as usize];
            *cut = (*cut).min(place);
        }
    }

    /// Whether the event is one of those that race, comes after one of these in every schedule, or would take away the
    /// memory that they access.
    fn cannot_run(&self, event: u32, step: &Event) -> bool {
        let window = &*self.window;
        if window.twins.is_some() {
            return false;
        }
        let frees = match step.op {
            Op::Free(var) => {
                window.event(window.racing[0]).op.access().is_some_and(|access| access.var == var)
            }
            _ => false,
        };
        let is_cut =
            |&need: &u32| window.place[need as usize] >= self.cut[window.thread[need as usize] as usize];
        frees || window.racing.contains(&event) || window.needs(event).iter().any(is_cut)
    }

    fn add_needs(&mut self, event: u32, step: &Event) {
        let (index, begin) = (self.window.index, self.window.begin);
        let global = begin + event;
        let mut needs = std::mem::take(&mut self.window.needs);
        index.for_each_need(global, |need| {
            if need >= begin {
                needs.push(need - begin);
            }
        });
        if let (Some(causal), Some(_)) = (self.window.causal, step.op.access()) {
            let place = index.place[global as usize];
            for (thread, count) in causal.news(step.thread.index(), place) {
                let last = index.threads[thread][count as usize - 1];
                if last >= begin && last < global {
                    needs.push(last - begin);
                }
            }
        }
        self.window.needs = needs;
        self.add_fence(event, step);
        self.window.need_ends.push(number(self.window.needs.len()));
    }

    /// What no recorded write explains comes after all that is before it, and before all that is after it.
    fn add_fence(&mut self, event: u32, step: &Event) {
        let thread = self.window.thread[event as usize];
        if let Some((fence, passed)) = &mut self.fence {
            if passed.len() <= thread as usize {
                passed.resize(thread as usize + 1, false);
            }
            if !std::mem::replace(&mut passed[thread as usize], true)
                && self.window.thread[*fence as usize] != thread
            {
                self.window.needs.push(*fence);
            }
        }
        if step.unexplained {
            let Window { needs, threads, .. } = &mut *self.window;
            needs.extend(
                threads.iter().filter_map(|events| events.last().copied()).filter(|&last| last != event),
            );
            self.fence = Some((event, Vec::new()));
        }
    }

    fn add_access(&mut self, event: u32, step: &Event) {
        let Some(access) = step.op.access() else { return };
        let var = self.var(access.var);
        self.window.var[event as usize] = var;
        self.window.vars[var as usize].accesses.push(event);
        let global = self.window.begin + event;
        if self.window.index.changes_memory(global).is_some() {
            let thread = self.window.thread[event as usize];
            let writes = &mut self.window.vars[var as usize].writes;
            match writes.iter_mut().find(|of| of.0 == thread) {
                Some(of) => of.1.push(event),
                None => writes.push((thread, vec![event])),
            }
            if let Some(value) = self.window.index.value_after(global) {
                let group = self.group(access.var, value);
                self.window.groups[group as usize].push(event);
            }
        }
        if matches!(step.op, Op::Free(_)) {
            self.window.vars[var as usize].free = event;
        }
    }

    fn group(&mut self, var: VarId, value: foretell_trace::Value) -> u32 {
        let Builder { groups, window, .. } = self;
        *groups.entry((var, value)).or_insert_with(|| {
            window.groups.push(Vec::new());
            number(window.groups.len() - 1)
        })
    }

    fn add_synchronisation(&mut self, event: u32, step: &Event) {
        let global = self.window.begin + event;
        if step.op.section_begin().is_some() {
            self.begin_section(step.thread.index(), global, event);
        }
        match step.op {
            Op::TryAcquireFailed(lock) => self.add_attempt(event, lock, LockMode::Exclusive),
            Op::TryAcquireSharedFailed(lock) => self.add_attempt(event, lock, LockMode::Shared),
            Op::SemInit { sem, .. } | Op::SemPost(sem) | Op::SemWait(sem) => {
                let sem = self.sem(sem.index());
                self.window.semaphores[sem as usize].ops.push(event);
            }
            Op::Woken { .. } => {
                let notification = self.window.index.notification(global);
                if notification != NONE
                    && notification >= self.window.begin
                    && self.window.before(event).is_some()
                {
                    self.window.notifications.insert(event, notification - self.window.begin);
                }
            }
            _ => {}
        }
    }

    fn add_attempt(&mut self, event: u32, lock: LockId, mode: LockMode) {
        let lock = self.lock(lock);
        self.window.attempts.push(Attempt { event, lock, mode });
    }

    /// A section begins: `begin` is its first event in the trace, `begins` in the window.
    fn begin_section(&mut self, thread: usize, begin: u32, begins: u32) {
        let index = self.window.index;
        let Some((lock, mode)) = index.event(begin).op.section_begin() else { return };
        let (thread, lock) = (self.thread(thread), self.lock(lock));
        let end = match index.section_end(begin) {
            NONE => NEVER,
            end if end >= self.window.end => match self.window.border {
                Border::Fixed => NEVER,
                Border::Open => BEYOND,
            },
            end => end - self.window.begin,
        };
        self.window.sections_of[thread as usize].push(number(self.window.sections.len()));
        self.window.sections.push(Section { lock, mode, thread, begin: begins, end });
    }

    fn settle_reads(&mut self) {
        for event in 0..self.window.len() {
            let Some(access) = self.window.op(event).access() else { continue };
            if access.kind.reads() {
                let domain = self.read_domain(event, access.var);
                self.window.domains[event as usize] = domain;
            }
        }
    }

    fn read_domain(&mut self, event: u32, var: VarId) -> Domain {
        let Window { index, begin, border, .. } = *self.window;
        let open = border == Border::Open;
        match index.seen(begin + event, self.window.question.same_write) {
            Seen::Anything => Domain::Free,
            Seen::Write(write) if write != NONE && write >= begin => Domain::Write(write - begin),
            Seen::Write(write) if open => self.seen_from_outside(write),
            Seen::Write(_) => Domain::Entry,
            Seen::Value(value) if open => self.value_from_outside(var, value),
            Seen::Value(value) => {
                let entry = index.content(var, begin).value == Some(value);
                Domain::Group { group: self.group(var, value), entry }
            }
        }
    }

    /// A read that must see a write before the window, or what was there at first.
    fn seen_from_outside(&mut self, write: u32) -> Domain {
        let mut outside = Outside { initial: write == NONE, ..Outside::default() };
        if write != NONE {
            match self.threads.get(&self.window.index.event(write).thread.index()) {
                Some(&thread) => outside.before.push(thread),
                None => outside.absent = true,
            }
        }
        self.window.groups.push(Vec::new());
        Domain::Beyond { group: number(self.window.groups.len() - 1), outside: self.add_outside(outside) }
    }

    /// A read that must see a value, which others outside of the window may write, too.
    fn value_from_outside(&mut self, var: VarId, value: foretell_trace::Value) -> Domain {
        let group = self.group(var, value);
        if let Some(&outside) = self.outsides.get(&group) {
            return Domain::Beyond { group, outside };
        }
        let Window { index, begin, end, .. } = *self.window;
        let mut outside = Outside { initial: index.is_initial(var, value), ..Outside::default() };
        for writer in index.writers(var, value) {
            match self.threads.get(&(writer.thread as usize)) {
                _ if writer.first >= begin && writer.last < end => {}
                None => outside.absent = true,
                Some(&thread) => {
                    outside.before.extend((writer.first < begin).then_some(thread));
                    outside.after.extend((writer.last >= end).then_some(thread));
                }
            }
        }
        let outside = self.add_outside(outside);
        self.outsides.insert(group, outside);
        Domain::Beyond { group, outside }
    }

    fn add_outside(&mut self, outside: Outside) -> u32 {
        self.window.outsides.push(outside);
        number(self.window.outsides.len() - 1)
    }

    /// Now that it is known how far threads can run, sections are sorted into their locks.
    fn settle_sections(&mut self) {
        for number in 0..number(self.window.sections.len()) {
            let Window { sections, limit, place, locks, section_ending, .. } = &mut *self.window;
            let section = &mut sections[number as usize];
            if section.ends() && place[section.end as usize] >= limit[section.thread as usize] {
                section.end = NEVER;
            }
            if section.ends() {
                section_ending.insert(section.end, number);
            }
            let lock = &mut locks[section.lock as usize];
            let same = |of: &&mut (u32, LockMode, Vec<u32>)| (of.0, of.1) == (section.thread, section.mode);
            match lock.sections.iter_mut().find(same) {
                Some(of) => of.2.push(number),
                None => lock.sections.push((section.thread, section.mode, vec![number])),
            }
            if section.begin == BEFORE {
                lock.held.push(number);
            }
        }
    }
}

/// A count of things of which there are fewer than events.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
