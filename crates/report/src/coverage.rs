//! How much of a run could be reordered at all: where almost nothing could, that no race was found means little.
//!
//! Accesses are *concurrent* if those of another thread are not ordered with them by forks and joins alone. Fences
//! cut a run into stretches, and nothing moves from one to another. So a concurrent access can be reordered if its
//! stretch has a concurrent one of another thread. Other synchronisation is not looked at: what it leaves open is
//! decided pair by pair.

use foretell_trace::{Event, Loc, Names, Op, ThreadId, Trace, fence};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::report::is_zero;

/// If less than this share of the concurrent accesses can be reordered, a run says almost nothing. In percent.
pub const LEAST: u64 = 1;
/// How many causes of fences a report lists.
const CAUSES: usize = 10;
/// In how many locations fences are distinguished; there are more only in traces that were made for that.
const MOST_LOCATIONS: usize = 100_000;
/// Among how many neighbours in the run others are looked for that are concurrent.
const NEIGHBOURS: usize = 128;
/// How many forks or joins are followed from one access to another.
const HOPS: usize = 64;
/// How many pairs of threads are distinguished.
const MOST_PAIRS: usize = 1 << 20;

/// What of a run could be reordered, and what kept the rest in its place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// How many accesses forks and joins alone do not order with those of another thread.
    pub concurrent_accesses: u64,
    /// How many of these have such an access of another thread on their side of all fences.
    pub reorderable_accesses: u64,
    /// How many pairs of threads are active without forks and joins ordering all that they do.
    pub thread_pairs: u64,
    /// How many of these have accesses that can be reordered with each other.
    pub reorderable_thread_pairs: u64,
    /// How many fences there are.
    pub fences: u64,
    /// How many of these the recorder has put where it did not see what happened, mostly in uninstrumented code.
    pub fences_by_recorder: u64,
    /// What causes most of them, the most frequent cause first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<FenceCause>,
    /// How many fences the causes beyond these have.
    #[serde(skip_serializing_if = "is_zero")]
    pub fences_of_other_causes: u64,
    /// Programs that the recorded ones have started and that were not recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecorded_programs: Vec<String>,
    /// How many threads of the process were not recorded: made past the C library, or going on after their end.
    #[serde(skip_serializing_if = "is_zero")]
    pub unrecorded_threads: u64,
    /// So little could be reordered that the run says almost nothing about races.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blind: bool,
}

/// What causes fences at one place of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FenceCause {
    /// How many.
    pub fences: u64,
    /// Where.
    pub location: String,
    /// What happens there, in words.
    pub cause: String,
    /// The function that is called there and is not instrumented, if that is the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// How to get rid of them.
    pub mend: String,
}

impl Coverage {
    /// The coverage of a trace in memory.
    pub fn of(trace: &Trace) -> Coverage {
        let mut counter = Counter::default();
        counter.batch(trace.events(), trace.names());
        counter.finish(trace.names())
    }

    /// Adds that of another run of the same program.
    pub fn add(&mut self, other: &Coverage) {
        self.concurrent_accesses = self.concurrent_accesses.saturating_add(other.concurrent_accesses);
        self.reorderable_accesses = self.reorderable_accesses.saturating_add(other.reorderable_accesses);
        self.thread_pairs = self.thread_pairs.saturating_add(other.thread_pairs);
        self.reorderable_thread_pairs =
            self.reorderable_thread_pairs.saturating_add(other.reorderable_thread_pairs);
        self.fences = self.fences.saturating_add(other.fences);
        self.fences_by_recorder = self.fences_by_recorder.saturating_add(other.fences_by_recorder);
        for cause in &other.causes {
            let is_same =
                |known: &&mut FenceCause| (&known.location, &known.cause) == (&cause.location, &cause.cause);
            match self.causes.iter_mut().find(is_same) {
                Some(known) => known.fences = known.fences.saturating_add(cause.fences),
                None => self.causes.push(cause.clone()),
            }
        }
        self.fences_of_other_causes =
            self.fences_of_other_causes.saturating_add(other.fences_of_other_causes);
        self.limit();
        self.unrecorded_threads = self.unrecorded_threads.saturating_add(other.unrecorded_threads);
        for program in &other.unrecorded_programs {
            self.add_program(program);
        }
        self.judge();
    }

    /// A program was started that was not recorded.
    pub fn add_program(&mut self, program: &str) {
        if !self.unrecorded_programs.iter().any(|known| known == program) {
            self.unrecorded_programs.push(program.to_string());
        }
    }

    /// Keeps the most frequent causes.
    fn limit(&mut self) {
        self.causes.sort_by(|one, other| {
            (other.fences, &one.location, &one.cause).cmp(&(one.fences, &other.location, &other.cause))
        });
        let rest = self.causes.drain(CAUSES.min(self.causes.len())..);
        let rest: u64 = rest.map(|cause| cause.fences).sum();
        self.fences_of_other_causes = self.fences_of_other_causes.saturating_add(rest);
    }

    /// Whether it is worth anything that no race was found. Where nothing is concurrent there is none, and without
    /// fences all is looked at. What a trace itself says that nothing explains is no blindness of the recorder.
    fn judge(&mut self) {
        let is_little = self.reorderable_accesses.saturating_mul(100)
            < self.concurrent_accesses.max(1).saturating_mul(LEAST);
        self.blind = self.fences_by_recorder > 0 && self.thread_pairs > 0 && is_little;
    }
}

/// Counts what can be reordered, as the events come by.
#[derive(Debug, Default)]
pub struct Counter {
    threads: Vec<Life>,
    /// How many events there were.
    events: u64,
    /// What a thread has accessed in a row, and is not yet part of a stretch.
    row: Option<Group>,
    /// The whole run, and the stretch since the last fence.
    whole: Stretch,
    stretch: Stretch,
    reorderable: u64,
    pairs: Pairs,
    fences: u64,
    fences_by_recorder: u64,
    /// How many fences there are in each location, and what the first of them reads.
    by_location: FxHashMap<Loc, (u64, Op)>,
    /// Whether accesses at a location are part of a fence.
    is_of_fence: FxHashMap<Loc, bool>,
}

/// Pairs of threads, the one with the lower number first.
type Pairs = FxHashSet<(u32, u32)>;

/// By whom a thread was started and waited for, and at which event.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    forked: Option<(u32, u64)>,
    joined: Option<(u32, u64)>,
}

/// What one thread does in a row, without forks and joins in between.
#[derive(Clone, Copy, Debug)]
struct Group {
    thread: u32,
    /// The event that it begins with.
    first: u64,
    accesses: u64,
}

/// Events that no fence keeps apart.
#[derive(Debug, Default)]
struct Stretch {
    groups: Vec<Group>,
    /// The group that each thread is in, by its number; [`NONE`] or more than there are if it is in none.
    current: Vec<usize>,
}

/// The number of a group that does not exist.
const NONE: usize = usize::MAX;

impl Stretch {
    #[inline]
    fn add(&mut self, thread: u32, event: u64, accesses: u64) {
        let current = self.current.get(thread as usize).and_then(|&group| self.groups.get_mut(group));
        match current {
            Some(group) => group.accesses += accesses,
            None => self.begin(Group { thread, first: event, accesses }),
        }
    }

    fn begin(&mut self, group: Group) {
        let thread = group.thread as usize;
        if self.current.len() <= thread {
            self.current.resize(thread + 1, NONE);
        }
        self.current[thread] = self.groups.len();
        self.groups.push(group);
    }

    /// What the thread does next belongs to another group.
    fn end(&mut self, thread: u32) {
        if let Some(current) = self.current.get_mut(thread as usize) {
            *current = NONE;
        }
    }

    /// Forgets everything and keeps the memory.
    fn clear(&mut self) {
        for group in self.groups.drain(..) {
            self.current[group.thread as usize] = NONE;
        }
    }
}

impl Counter {
    /// The next events of the run, checked.
    pub fn batch(&mut self, events: &[Event], names: &Names) {
        for event in events {
            self.event(event, names);
            self.events += 1;
        }
    }

    fn event(&mut self, event: &Event, names: &Names) {
        let thread = number(event.thread);
        if event.unexplained {
            return self.fence(event, names);
        }
        match event.op {
            Op::Fork(child) => {
                let events = self.events;
                let life = self.life(child);
                life.forked = life.forked.or(Some((thread, events)));
                self.turn(thread);
            }
            Op::Join(child) => {
                let events = self.events;
                let life = self.life(child);
                life.joined = life.joined.or(Some((thread, events)));
                self.turn(thread);
            }
            Op::Read { .. } | Op::Write { .. } | Op::Rmw { .. } => self.access(thread),
            Op::Load { .. } | Op::Store { .. } if !self.is_of_fence(event.loc, names) => self.access(thread),
            _ => {}
        }
    }

    fn life(&mut self, thread: ThreadId) -> &mut Life {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Life::default());
        }
        &mut self.threads[thread.index()]
    }

    /// From here on the thread may be ordered with others otherwise than before.
    fn turn(&mut self, thread: u32) {
        self.count_row();
        self.whole.end(thread);
        self.stretch.end(thread);
    }

    #[inline]
    fn access(&mut self, thread: u32) {
        match &mut self.row {
            Some(row) if row.thread == thread => row.accesses += 1,
            _ => {
                self.count_row();
                self.row = Some(Group { thread, first: self.events, accesses: 1 });
            }
        }
    }

    fn count_row(&mut self) {
        if let Some(Group { thread, first, accesses }) = self.row.take() {
            self.whole.add(thread, first, accesses);
            self.stretch.add(thread, first, accesses);
        }
    }

    /// A fence is recorded as accesses that the program did not make.
    fn is_of_fence(&mut self, loc: Loc, names: &Names) -> bool {
        *self.is_of_fence.entry(loc).or_insert_with(|| fence::parts(&names.loc_text(loc)).is_some())
    }

    fn fence(&mut self, event: &Event, names: &Names) {
        self.count_row();
        self.fences += 1;
        if self.by_location.len() < MOST_LOCATIONS || self.by_location.contains_key(&event.loc) {
            self.by_location.entry(event.loc).or_insert((0, event.op)).0 += 1;
        }
        // A read of the program is an access, and a thread that calls what is not seen may access anything there.
        let by_recorder = u64::from(self.is_of_fence(event.loc, names));
        self.fences_by_recorder += by_recorder;
        self.whole.add(number(event.thread), self.events, 1 - by_recorder);
        self.close();
    }

    /// A stretch has ended.
    fn close(&mut self) {
        self.count_row();
        if self.stretch.groups.len() > 1 {
            let mut pairs = std::mem::take(&mut self.pairs);
            self.reorderable += self.concurrent(&self.stretch.groups, &mut pairs);
            self.pairs = pairs;
        }
        self.stretch.clear();
    }

    /// How many accesses of these groups are concurrent with others of them. Adds the pairs of threads for which that
    /// is so.
    fn concurrent(&self, groups: &[Group], pairs: &mut Pairs) -> u64 {
        let mut is_concurrent = vec![false; groups.len()];
        for (index, one) in groups.iter().enumerate() {
            for (beside, other) in groups.iter().enumerate().skip(index + 1).take(NEIGHBOURS) {
                let pair = (one.thread.min(other.thread), one.thread.max(other.thread));
                let is_known = is_concurrent[index] && is_concurrent[beside] && pairs.contains(&pair);
                if one.thread == other.thread || is_known || self.is_ordered(one, other) {
                    continue;
                }
                (is_concurrent[index], is_concurrent[beside]) = (true, true);
                if pairs.len() < MOST_PAIRS {
                    pairs.insert(pair);
                }
            }
        }
        groups.iter().zip(is_concurrent).filter(|(_, is)| *is).map(|(group, _)| group.accesses).sum()
    }

    fn is_ordered(&self, one: &Group, other: &Group) -> bool {
        self.is_before(one, other) || self.is_before(other, one)
    }

    /// Whether forks and joins order all of one group before all of another.
    fn is_before(&self, one: &Group, other: &Group) -> bool {
        let mut end = Some((one.thread, one.first));
        for _ in 0..HOPS {
            let Some((thread, event)) = end else { return false };
            if self.leads_to(thread, event, other) {
                return true;
            }
            // All events of the thread come before the thread that joins it continues.
            end = self.threads.get(thread as usize).and_then(|life| life.joined);
        }
        false
    }

    /// Whether the group begins after this event of a thread: in the same thread, or in one that was started after it.
    fn leads_to(&self, thread: u32, event: u64, group: &Group) -> bool {
        let mut beginning = Some((group.thread, group.first));
        for _ in 0..HOPS {
            let Some((of, first)) = beginning else { return false };
            if of == thread {
                return event < first;
            }
            beginning = self.threads.get(of as usize).and_then(|life| life.forked);
        }
        false
    }

    /// What all that comes to.
    pub fn finish(mut self, names: &Names) -> Coverage {
        self.close();
        let mut pairs = Pairs::default();
        let concurrent = self.concurrent(&self.whole.groups, &mut pairs);
        let reorderable_pairs = self.pairs.len() as u64;
        pairs.extend(self.pairs.drain());
        let causes: Vec<FenceCause> = self
            .by_location
            .iter()
            .map(|(&loc, &(fences, op))| FenceCause::new(fences, loc, op, names))
            .collect();
        let listed: u64 = causes.iter().map(|cause| cause.fences).sum();
        let mut coverage = Coverage {
            concurrent_accesses: concurrent.max(self.reorderable),
            reorderable_accesses: self.reorderable,
            thread_pairs: pairs.len() as u64,
            reorderable_thread_pairs: reorderable_pairs,
            fences: self.fences,
            fences_by_recorder: self.fences_by_recorder,
            causes,
            fences_of_other_causes: self.fences - listed,
            ..Coverage::default()
        };
        coverage.limit();
        coverage.judge();
        coverage
    }
}

fn number(thread: ThreadId) -> u32 {
    u32::try_from(thread.index()).unwrap_or(u32::MAX)
}

impl FenceCause {
    fn new(fences: u64, loc: Loc, op: Op, names: &Names) -> FenceCause {
        let location = names.loc_text(loc);
        let Some((place, cause)) = fence::parts(&location) else {
            let var = op.access().map(|access| names.vars.name(access.var)).unwrap_or_default();
            let cause = format!("reads a value of {var} that no recorded write explains");
            let (location, mend) = (location.into_owned(), RECORD_MORE.to_string());
            return FenceCause { fences, location, cause, callee: None, mend };
        };
        let callee = fence::callee(cause).map(String::from);
        let mend = callee.as_deref().map_or_else(|| mend_of(cause), mend_of_call).to_string();
        FenceCause { fences, location: place.to_string(), cause: cause.to_string(), callee, mend }
    }
}

const RECORD_MORE: &str = "instrument the code that writes the variable";
const MODEL: &str =
    "please request a model: it is part of a standard library, or foretell cannot record it yet";

/// How to see what a function does.
fn mend_of_call(callee: &str) -> &'static str {
    const CPP_LIBRARY: [&str; 4] = ["std::", "__gnu_cxx::", "__cxxabi", "operator "];
    const WAITS: [&str; 6] =
        ["pthread_mutex_", "pthread_cond_", "pthread_rwlock_", "pthread_barrier_", "pthread_join", "sem_"];
    const RUST_LIBRARY: [&str; 5] = ["core::", "alloc::", "std::rt", "std::sys", "__rust"];
    let is_of = |prefixes: &[&str]| {
        let name = callee.trim_start_matches(['<', '&', '*', '(']);
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    if is_of(&WAITS) {
        "record also the thread or process that it waits for"
    } else if callee == "through a pointer" {
        "build the target of the pointer with `foretell cc`, `foretell c++` or `cargo foretell`"
    } else if is_of(&CPP_LIBRARY) || is_of(&RUST_LIBRARY) || callee.starts_with('_') {
        MODEL
    } else {
        "build the library of the function with `foretell cc`, `foretell c++` or `cargo foretell`; if it is the C \
         library, please request a model"
    }
}

/// How to see what happens otherwise.
fn mend_of(cause: &str) -> &'static str {
    match cause {
        "inline assembly" => "use the compiler's builtins or atomics instead",
        "a read that shows an external write" => {
            "instrument the code that writes it: usually a function that was called before, or the kernel"
        }
        "called from uninstrumented code" => {
            "build the caller with `foretell cc`, `foretell c++` or `cargo foretell`"
        }
        "memory that other processes share" => "none: other processes may write at any time",
        _ => MODEL,
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::format::text::TextReader;

    use super::*;

    fn coverage(text: &'static str) -> Coverage {
        let trace = Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
        let whole = Coverage::of(&trace);
        // As a stream it is the same, wherever it is cut.
        let mut counter = Counter::default();
        trace.events().chunks(3).for_each(|events| counter.batch(events, trace.names()));
        assert_eq!(counter.finish(trace.names()), whole);
        whole
    }

    fn shares(text: &'static str) -> [u64; 4] {
        let found = coverage(text);
        let Coverage { concurrent_accesses, reorderable_accesses, .. } = found;
        [reorderable_accesses, concurrent_accesses, found.reorderable_thread_pairs, found.thread_pairs]
    }

    #[test]
    fn one_thread_and_threads_one_after_the_other_have_nothing_to_reorder() {
        assert_eq!(shares("A|w(x)|1\nA|r(x)|2"), [0, 0, 0, 0]);
        assert_eq!(shares("A|w(x)|1\nA|fork(B)|2\nB|w(x)|3\nA|join(B)|4\nA|w(x)|5"), [0, 0, 0, 0]);
        let nested = "A|w(x)|1\nA|fork(B)|2\nB|fork(C)|3\nC|w(x)|4\nB|join(C)|5\nA|join(B)|6\nA|w(x)|7";
        assert_eq!(shares(nested), [0, 0, 0, 0]);
        let in_turn = "A|fork(B)|1\nB|w(x)|2\nA|join(B)|3\nA|fork(C)|4\nC|w(x)|5\nA|join(C)|6";
        assert_eq!(shares(in_turn), [0, 0, 0, 0]);
    }

    #[test]
    fn without_fences_all_that_is_concurrent_can_be_reordered() {
        let text =
            "A|w(x)|1\nA|fork(B)|2\nA|fork(C)|3\nB|w(x)|4\nC|r(x)|5\nA|join(B)|6\nA|r(x)|7\nA|join(C)|8";
        assert_eq!(shares(text), [3, 3, 2, 2], "the last read of A is not ordered with C");
        // A thread that has ended before the next one starts can still be late.
        assert_eq!(shares("A|fork(B)|1\nB|w(x)|2\nB|end|3\nA|fork(C)|4\nC|w(x)|5"), [2, 2, 1, 1]);
        assert!(!coverage(text).blind);
    }

    #[test]
    fn fences_keep_threads_apart() {
        let text = "A|astore.rlx(o,0)|1\nA|fork(B)|2\nA|w(x,1)|3\nA|aload.rlx(o,1)|a.c:4 (fence: calls f)\n\
            B|r(x,1)|5\nB|aload.rlx(o,2)|a.c:4 (fence: calls f)\nA|w(x,2)|6\nA|aload.rlx(o,3)|7\nB|r(x,2)|8\n";
        let found = coverage(text);
        assert_eq!((found.reorderable_accesses, found.concurrent_accesses), (0, 5));
        assert_eq!((found.reorderable_thread_pairs, found.thread_pairs, found.fences), (0, 1, 3));
        assert!(found.blind);
        let causes: Vec<_> = found
            .causes
            .iter()
            .map(|cause| (cause.fences, &*cause.location, cause.callee.as_deref()))
            .collect();
        assert_eq!(causes, [(2, "a.c:4", Some("f")), (1, "7", None)]);
        let with_one_more = format!("{text}A|w(y)|9\n");
        let shown = coverage(Box::leak(with_one_more.into_boxed_str()));
        assert_eq!((shown.reorderable_accesses, shown.blind), (2, false));
    }

    #[test]
    fn threads_that_only_call_what_is_not_seen_are_not_covered() {
        let text = "A|astore.rlx(o,0)|1\nA|fork(B)|2\nA|aload.rlx(o,1)|a.c:3 (fence: calls f)\n\
            B|aload.rlx(o,2)|a.c:4 (fence: calls f)\nA|join(B)|5\n";
        let found = coverage(text);
        assert_eq!((found.concurrent_accesses, found.thread_pairs, found.blind), (0, 1, true));
    }

    #[test]
    fn runs_add_up_and_only_the_most_frequent_causes_are_listed() {
        let cause = |fences, location: &str| FenceCause {
            fences,
            location: location.into(),
            ..FenceCause::default()
        };
        let one = |causes: Vec<FenceCause>| Coverage {
            concurrent_accesses: 100,
            thread_pairs: 1,
            fences_by_recorder: 1,
            fences: causes.iter().map(|cause| cause.fences).sum(),
            causes,
            ..Coverage::default()
        };
        let mut all = one((0..8).map(|number| cause(2, &number.to_string())).collect());
        all.add(&one((4..12).map(|number| cause(3, &number.to_string())).collect()));
        assert_eq!((all.causes.len(), all.fences, all.fences_of_other_causes), (10, 40, 4));
        assert_eq!((all.causes[0].fences, all.concurrent_accesses, all.blind), (5, 200, true));
    }
}
