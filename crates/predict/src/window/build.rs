//! Filling a window, in one pass over its events.

use foretell_trace::{Event, LockId, LockMode, Op, Value, VarId, ops};
use rustc_hash::FxHashMap;

use super::meetings::MeetingEvent;
use super::{
    Attempt, BEFORE, BEYOND, Border, Domain, LockSections, NEVER, Outside, SemaphoreOperations,
    VariableAccesses, Window, WindowSection,
};
use crate::index::{MustSee, NONE};
use crate::spin_locks::SpinSection;

/// Fills a window in one pass over its events.
pub(super) struct Builder<'w, 'i> {
    window: &'w mut Window<'i>,
    threads: FxHashMap<usize, u32>,
    vars: FxHashMap<VarId, u32>,
    locks: FxHashMap<LockId, u32>,
    spin_locks: FxHashMap<u32, u32>,
    sems: FxHashMap<usize, u32>,
    groups: FxHashMap<(VarId, Value), u32>,
    /// For each group of writes, who else writes the same, as far as the last of its readers is concerned.
    outsides: FxHashMap<u32, u32>,
    /// The first event of a thread after the window, or [`NONE`].
    next: FxHashMap<usize, u32>,
    /// For each thread, how many of its events can run, as far as is known; [`NONE`] for all.
    cut: Vec<u32>,
    /// The last fence of the window so far, and which threads have had an event since.
    fence: Option<(u32, Vec<bool>)>,
}

impl<'w, 'i> Builder<'w, 'i> {
    pub(super) fn new(window: &'w mut Window<'i>) -> Builder<'w, 'i> {
        Builder {
            window,
            threads: FxHashMap::default(),
            vars: FxHashMap::default(),
            locks: FxHashMap::default(),
            spin_locks: FxHashMap::default(),
            sems: FxHashMap::default(),
            groups: FxHashMap::default(),
            outsides: FxHashMap::default(),
            next: FxHashMap::default(),
            cut: Vec::new(),
            fence: None,
        }
    }

    pub(super) fn build(mut self) {
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
        self.settle_steering();
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
            let begins = match self.window.border {
                Border::Fixed => BEFORE,
                // It begins before the first event of its thread here; nothing more is known.
                Border::Open => first.map_or(BEFORE, |first| first - self.window.begin),
            };
            for begin in index.sections_after(thread, count) {
                self.begin_section(thread, begin, begins);
            }
            for spin in index.spin_locks.held_after(thread, count) {
                self.begin_spin_section(spin, begins);
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
            window.locks.push(LockSections::default());
            number(window.locks.len() - 1)
        })
    }

    fn spin_lock(&mut self, lock: u32) -> u32 {
        let Builder { spin_locks, window, .. } = self;
        *spin_locks.entry(lock).or_insert_with(|| {
            let word = Some(window.index.spin_locks.words[lock as usize]);
            window.locks.push(LockSections { word, ..LockSections::default() });
            number(window.locks.len() - 1)
        })
    }

    fn var(&mut self, var: VarId) -> u32 {
        let Builder { vars, window, .. } = self;
        *vars.entry(var).or_insert_with(|| {
            window.vars.push(VariableAccesses { free: NONE, ..VariableAccesses::default() });
            number(window.vars.len() - 1)
        })
    }

    fn sem(&mut self, sem: usize) -> u32 {
        let Builder { sems, window, .. } = self;
        *sems.entry(sem).or_insert_with(|| {
            let permits = window.index.permits(sem, window.begin);
            window.semaphores.push(SemaphoreOperations { permits, ops: Vec::new() });
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
        for spin in self.window.index.spin_locks.beginning_at(global) {
            self.begin_spin_section(spin, event);
        }
        if self.cannot_run(event, step) {
            let cut = &mut self.cut[thread as usize];
            *cut = (*cut).min(place);
        }
    }

    /// Whether the event is one of those that come next in the end, comes after one of these in every schedule, or
    /// would take away the memory that they access, though the goal does not ask for that.
    fn cannot_run(&self, event: u32, step: &Event) -> bool {
        let window = &*self.window;
        if window.twins.is_some() {
            return false;
        }
        let is_accessed = |var: VarId| {
            let mut accesses = window.next.iter().filter_map(|&next| window.op(next).access());
            accesses.any(|access| access.var == var)
        };
        let frees = match step.op {
            Op::Free(var) => is_accessed(var) && !window.ran.contains(&event),
            Op::Fence { .. }
            | Op::Alloc(_)
            | ops!(locks | control | semaphores | conditions | barriers | labels | accesses) => false,
        };
        let is_cut =
            |&need: &u32| window.place[need as usize] >= self.cut[window.thread[need as usize] as usize];
        frees || window.next.contains(&event) || window.needs(event).iter().any(is_cut)
    }

    fn add_needs(&mut self, event: u32, step: &Event) {
        let (index, begin) = (self.window.index, self.window.begin);
        let global = begin + event;
        let mut needs = std::mem::take(&mut self.window.needs);
        let add = |need: u32| {
            if need >= begin {
                needs.push(need - begin);
            }
        };
        if step.op.access().is_none() && self.window.next.contains(&event) {
            // It is not to run, but to be attempted: what it waits for need not have come.
            index.for_each_need_to_begin(global, add);
        } else {
            index.for_each_need(global, add);
        }
        if let (Some(causal), Some(_)) = (self.window.causal, step.op.access()) {
            for (thread, count) in causal.news(index, global) {
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

    fn group(&mut self, var: VarId, value: Value) -> u32 {
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
                let notification = self.window.index.only_notification(global);
                if notification != NONE
                    && notification >= self.window.begin
                    && self.window.before(event).is_some()
                {
                    self.window.notifications.insert(event, notification - self.window.begin);
                }
            }
            Op::Wait { .. }
            | Op::WaitTimeout { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | ops!(memory | control | barriers | labels | sections | reentries) => {}
        }
        if self.window.border == Border::Fixed {
            let Window { index, begin, ref thread, ref mut meetings, .. } = *self.window;
            meetings.add(index, MeetingEvent { begin, event, thread: thread[event as usize] }, step.op);
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
        let end = self.end_in_window(index.section_end(begin));
        self.add_section(WindowSection { lock, mode, thread, acquire: begins, begin: begins, end });
    }

    /// The same for a spin lock.
    fn begin_spin_section(&mut self, spin: &SpinSection, begins: u32) {
        let (thread, lock) = (self.thread(spin.thread as usize), self.spin_lock(spin.lock));
        let is_here = begins < BEFORE && spin.begin == self.window.begin + begins;
        let acquire = spin.acquire.checked_sub(self.window.begin).filter(|_| is_here).unwrap_or(begins);
        let end = self.end_in_window(spin.end);
        self.add_section(WindowSection {
            lock,
            mode: LockMode::Exclusive,
            thread,
            acquire,
            begin: begins,
            end,
        });
    }

    /// Where a section that ends at this event of the trace ends in the window.
    fn end_in_window(&self, end: u32) -> u32 {
        match end {
            NONE if self.window.border == Border::Open && self.goes_on() => BEYOND,
            NONE => NEVER,
            end if end >= self.window.end => match self.window.border {
                Border::Fixed => NEVER,
                Border::Open => BEYOND,
            },
            end => end - self.window.begin,
        }
    }

    /// Whether there are events after the trace at hand, which is a part of a longer one.
    fn goes_on(&self) -> bool {
        self.window.index.part.is_some_and(|part| part.continues)
    }

    fn add_section(&mut self, section: WindowSection) {
        self.window.sections_of[section.thread as usize].push(number(self.window.sections.len()));
        self.window.sections.push(section);
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

    fn settle_steering(&mut self) {
        let mut steering = vec![Vec::new(); self.window.threads.len()];
        if self.window.flow().is_some() || self.window.values().is_some() {
            for read in 0..self.window.len() {
                if let Some(steered) = self.window.steered_by(read) {
                    let thread = self.window.thread[read as usize] as usize;
                    steering[thread].push((self.window.place[steered as usize], read));
                }
            }
            steering.iter_mut().for_each(|of_thread| of_thread.sort_unstable());
        }
        self.window.steering = steering;
    }

    fn read_domain(&mut self, event: u32, var: VarId) -> Domain {
        let Window { index, begin, border, .. } = *self.window;
        let open = border == Border::Open;
        match index.seen(begin + event, self.window.same_write) {
            MustSee::Anything => Domain::Free,
            MustSee::Write(write) if write != NONE && write >= begin => Domain::Write(write - begin),
            MustSee::Write(write) if open => self.seen_from_outside(write),
            MustSee::Write(_) => Domain::Entry,
            MustSee::Value(value) if open => self.value_from_outside(event, var, value),
            MustSee::Value(value) => {
                let entry = index.content(var, begin).value == Some(value);
                Domain::Group { group: self.group(var, value), entry }
            }
        }
    }

    /// A read that must see a write before the window, or what was there at first.
    fn seen_from_outside(&mut self, write: u32) -> Domain {
        // What a part of a trace begins with may come from elsewhere.
        let absent = write == NONE && self.window.index.part.is_some();
        let mut outside = Outside { initial: write == NONE, absent, ..Outside::default() };
        if write != NONE {
            match self.threads.get(&self.window.index.event(write).thread.index()) {
                Some(&thread) => outside.before.push(thread),
                None => outside.absent = true,
            }
        }
        self.window.groups.push(Vec::new());
        let group = number(self.window.groups.len() - 1);
        Domain::Beyond { group, outside: self.add_outside(group, outside) }
    }

    /// A read that must see a value, which others outside of the window may write, too.
    fn value_from_outside(&mut self, read: u32, var: VarId, value: Value) -> Domain {
        let group = self.group(var, value);
        let Window { index, begin, end, causal, .. } = *self.window;
        let is_recent = causal.is_some_and(|causal| causal.sees_only_from(begin + read, begin));
        let (initial, absent) = (!is_recent && index.is_initial(var, value), index.part.is_some());
        let mut outside = Outside { initial, absent, ..Outside::default() };
        for writer in index.writers(var, value) {
            let thread = writer.thread as usize;
            let before = writer.first < begin && !is_recent;
            let after = writer.last >= end && !self.leaves_after(thread, read);
            match self.threads.get(&thread) {
                _ if !before && !after => {}
                None => outside.absent = true,
                Some(&thread) => {
                    outside.before.extend(before.then_some(thread));
                    outside.after.extend(after.then_some(thread));
                }
            }
        }
        if outside == Outside::default() {
            return Domain::Group { group, entry: false };
        }
        Domain::Beyond { group, outside: self.add_outside(group, outside) }
    }

    /// Whether the first event of the thread after the window comes after the read for sure.
    fn leaves_after(&mut self, thread: usize, read: u32) -> bool {
        let Window { index, begin, end, causal, .. } = *self.window;
        let Some(causal) = causal else { return false };
        let next = *self.next.entry(thread).or_insert_with(|| {
            let events = &index.threads[thread];
            events.get(events.partition_point(|&event| event < end)).copied().unwrap_or(NONE)
        });
        let (of, place) = (index.event(begin + read).thread.index(), index.place[(begin + read) as usize]);
        next != NONE && causal.before(next, of) > place
    }

    /// Reads of one value mostly have the same.
    fn add_outside(&mut self, group: u32, outside: Outside) -> u32 {
        let last = self.outsides.get(&group).copied();
        match last.filter(|&last| self.window.outsides[last as usize] == outside) {
            Some(same) => same,
            None => {
                self.window.outsides.push(outside);
                let new = number(self.window.outsides.len() - 1);
                self.outsides.insert(group, new);
                new
            }
        }
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
