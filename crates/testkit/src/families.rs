//! Families of traces on which exact prediction is hard: few values that repeat, and synchronisation that is made of
//! them. Each is the recording of a right program but for what is said; how long it is can be chosen, so that one sees
//! where a decider takes exponential time.

use std::fmt::{Display, Write as _};

use foretell_trace::{EventId, Trace};

use crate::random::Random;

/// A family: its name, and how it goes on by a few events.
pub type Family = (&'static str, fn(&mut Recording));

/// All families.
pub const ALL: [Family; 15] = [
    ("test-and-set lock, 2 threads", |recording| test_and_set(recording, 2, false)),
    ("test-and-set lock with failed attempts, 8 threads", |recording| test_and_set(recording, 8, true)),
    ("ticket lock, 4 threads", ticket_lock),
    ("queue lock (MCS), 4 threads", queue_lock),
    ("Peterson's lock, 2 threads", peterson),
    ("flag behind a mutex, 4 threads", flag),
    ("flags of two values behind a mutex, 8 threads", flags),
    ("counter modulo 4 behind a mutex, 10 threads", counter),
    ("ring buffer with semaphores, 4 threads", ring),
    ("sequence lock, 3 threads", sequence_lock),
    ("published versions (RCU), 4 threads", published),
    ("barrier made of atomics, 4 threads", atomic_barrier),
    ("barrier, values of two phases, 4 threads", barrier),
    ("reference counts, 4 threads", reference_count),
    ("handshake by a flag, 2 threads", handshake),
];

/// The trace of a family with about so many events.
pub fn trace(family: Family, events: usize, seed: u64) -> Trace {
    let mut recording = Recording {
        random: Random::new(seed),
        text: String::new(),
        events: 0,
        until: events,
        round: 0,
        words: [0; 16],
    };
    (0..MOST_THREADS).for_each(|thread| recording.event(MOST_THREADS, format_args!("fork(t{thread})")));
    while recording.events < events {
        family.1(&mut recording);
        recording.round += 1;
    }
    crate::trace(&recording.text)
}

/// For each variable with plain accesses the last pair of accesses that conflict, none far from the end but where there
/// are only two.
pub fn last_pairs(trace: &Trace) -> Vec<(EventId, EventId)> {
    let accesses = |var: usize| {
        trace.iter().filter_map(move |(id, event)| {
            let access = event.op.access().filter(|access| access.var.index() == var && !access.atomic)?;
            Some((id, event.thread, access))
        })
    };
    let last_pair = |var: usize| {
        let all: Vec<_> = accesses(var).collect();
        let &(second, thread, access) = all.last()?;
        let conflicts = |other: &&(EventId, _, foretell_trace::Access)| {
            other.1 != thread && other.2.conflicts_with(access)
        };
        let &(first, ..) = all.iter().rev().find(conflicts)?;
        Some((first, second))
    };
    (0..trace.names().vars.len()).filter_map(last_pair).collect()
}

const MOST_THREADS: usize = 10;

/// A trace in the making.
pub struct Recording {
    random: Random,
    text: String,
    events: usize,
    until: usize,
    /// How often the family has gone on.
    round: usize,
    /// What the family remembers.
    words: [usize; 16],
}

impl Recording {
    fn event(&mut self, thread: usize, op: impl Display) {
        self.events += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "t{thread}|{op}|{}", self.events);
    }

    /// Does one thing after the other, and decides by it.
    fn decide(&mut self, thread: usize, op: impl Display) {
        self.event(thread, op);
        self.event(thread, "branch");
    }

    /// An access to a variable without protection, in the first round and in the last.
    fn unprotected(&mut self, thread: usize) {
        if self.round == 0 || self.events >= self.until {
            let value = self.round;
            self.event(thread, format_args!("w(y,{value})"));
        }
    }
}

fn test_and_set(recording: &mut Recording, threads: usize, fails: bool) {
    let thread = recording.random.below(threads);
    recording.decide(thread, "rmw.acq(f,0,1)");
    let other = recording.random.below(threads);
    if fails && other != thread && !recording.random.once_in(5) {
        recording.decide(other, "aload(f,1)");
    }
    recording.event(thread, "w(d,1)");
    recording.event(thread, "astore.rel(f,0)");
}

fn ticket_lock(recording: &mut Recording) {
    let (thread, ticket) = (recording.random.below(4), recording.round);
    recording.event(thread, format_args!("rmw(next,{ticket},{})", ticket + 1));
    recording.decide(thread, format_args!("aload.acq(served,{ticket})"));
    recording.event(thread, "w(d,1)");
    recording.event(thread, format_args!("astore.rel(served,{})", ticket + 1));
}

/// A holder and one that waits for it, so that the lock is handed over; the tail names the last thread, plus one.
fn queue_lock(recording: &mut Recording) {
    let thread = recording.random.below(4);
    let other = (thread + 1 + recording.random.below(3)) % 4;
    recording.decide(thread, format_args!("rmw.acqrel(tail,0,{})", thread + 1));
    recording.event(thread, "w(d,1)");
    recording.event(other, format_args!("astore(locked{other},1)"));
    recording.decide(other, format_args!("rmw.acqrel(tail,{},{})", thread + 1, other + 1));
    recording.event(other, format_args!("astore.rel(next{thread},{})", other + 1));
    recording.decide(thread, format_args!("aload.acq(next{thread},{})", other + 1));
    recording.event(thread, format_args!("astore(next{thread},0)"));
    recording.event(thread, format_args!("astore.rel(locked{other},0)"));
    recording.decide(other, format_args!("aload.acq(locked{other},0)"));
    recording.event(other, "w(d,1)");
    recording.decide(other, format_args!("rmw.acqrel(tail,{},0)", other + 1));
}

fn peterson(recording: &mut Recording) {
    let thread = recording.random.below(2);
    let other = 1 - thread;
    recording.event(thread, format_args!("astore.sc(wants{thread},1)"));
    recording.event(thread, format_args!("astore.sc(turn,{other})"));
    recording.decide(thread, format_args!("aload.sc(wants{other},0)"));
    recording.event(thread, "w(d,1)");
    recording.event(thread, format_args!("astore.sc(wants{thread},0)"));
}

fn flag(recording: &mut Recording) {
    let (thread, value) = (recording.random.below(4), recording.round % 2);
    recording.event(thread, "acq(l)");
    recording.decide(thread, format_args!("r(x,{value})"));
    recording.event(thread, format_args!("w(x,{})", 1 - value));
    recording.event(thread, "rel(l)");
    recording.unprotected(thread);
}

fn flags(recording: &mut Recording) {
    let (thread, var) = (recording.random.below(8), recording.random.below(4));
    recording.event(thread, "acq(l)");
    if recording.random.once_in(2) {
        let value = recording.random.below(2);
        recording.words[var] = value;
        recording.event(thread, format_args!("w(x{var},{value})"));
    } else {
        let value = recording.words[var];
        recording.decide(thread, format_args!("r(x{var},{value})"));
    }
    recording.event(thread, "rel(l)");
    recording.unprotected(thread);
}

fn counter(recording: &mut Recording) {
    let (thread, value) = (recording.random.below(10), recording.round % 4);
    recording.event(thread, "acq(l)");
    recording.decide(thread, format_args!("r(c,{value})"));
    recording.event(thread, format_args!("w(c,{})", (value + 1) % 4));
    recording.event(thread, "rel(l)");
    recording.unprotected(thread);
}

/// Two producers and two consumers; how many have been produced and consumed is in the first two words, the slots
/// follow.
fn ring(recording: &mut Recording) {
    const SLOTS: usize = 8;
    if recording.round == 0 {
        recording.event(MOST_THREADS, format_args!("sem(empty,{SLOTS})"));
        recording.event(MOST_THREADS, "sem(full,0)");
    }
    let [produced, consumed] = [recording.words[0], recording.words[1]];
    let full = produced - consumed;
    let produces = full == 0 || (full < SLOTS && recording.random.once_in(2));
    let thread = recording.random.below(2) + if produces { 0 } else { 2 };
    let (wait, post, lock, place, at) = match produces {
        true => ("empty", "full", "pm", "head", produced % SLOTS),
        false => ("full", "empty", "cm", "tail", consumed % SLOTS),
    };
    recording.event(thread, format_args!("p({wait})"));
    recording.event(thread, format_args!("acq({lock})"));
    recording.decide(thread, format_args!("r({place},{at})"));
    if produces {
        let value = (produced + 1) % 5;
        recording.event(thread, format_args!("w(b{at},{value})"));
        recording.words[2 + at] = value;
    } else {
        let value = recording.words[2 + at];
        recording.decide(thread, format_args!("r(b{at},{value})"));
    }
    recording.event(thread, format_args!("w({place},{})", (at + 1) % SLOTS));
    recording.event(thread, format_args!("rel({lock})"));
    recording.event(thread, format_args!("v({post})"));
    recording.words[usize::from(!produces)] += 1;
    if produces {
        recording.event(thread, format_args!("w(stat,{})", (produced + 1) % 5));
    }
}

fn sequence_lock(recording: &mut Recording) {
    let [sequence, data, ..] = recording.words;
    if recording.random.once_in(3) {
        recording.decide(0, format_args!("rmw.acq(s,{sequence},{})", sequence + 1));
        let data = (data + 1) % 3;
        recording.event(0, format_args!("w(a,{data})"));
        recording.event(0, format_args!("w(b,{data})"));
        recording.event(0, format_args!("astore.rel(s,{})", sequence + 2));
        recording.words[0] = sequence + 2;
        recording.words[1] = data;
    } else {
        let thread = 1 + recording.random.below(2);
        recording.decide(thread, format_args!("aload.acq(s,{sequence})"));
        recording.event(thread, format_args!("r(a,{data})"));
        recording.event(thread, format_args!("r(b,{data})"));
        recording.decide(thread, format_args!("aload.acq(s,{sequence})"));
    }
}

/// Three readers that say when they read, and a writer that waits for those before it writes to the older of two
/// versions.
fn published(recording: &mut Recording) {
    let current = recording.round % 2;
    for reader in 0..3 {
        recording.event(reader, format_args!("astore.sc(reads{reader},1)"));
        recording.decide(reader, format_args!("aload.acq(version,{current})"));
        recording.event(reader, format_args!("r(n{current},{})", recording.round / 2 % 3));
    }
    for reader in 0..3 {
        recording.event(reader, format_args!("astore.rel(reads{reader},0)"));
    }
    for reader in 0..3 {
        recording.decide(3, format_args!("aload.acq(reads{reader},0)"));
    }
    let next = 1 - current;
    recording.event(3, format_args!("w(n{next},{})", recording.round.div_ceil(2) % 3));
    recording.event(3, format_args!("astore.rel(version,{next})"));
}

/// The last of four to come turns the sense round, for which the others wait; then each writes its cell, and after the
/// next time reads its neighbour's.
fn atomic_barrier(recording: &mut Recording) {
    const THREADS: usize = 4;
    let sense = recording.round % 2;
    for thread in 0..THREADS {
        if sense == 0 {
            recording.event(thread, format_args!("w(c{thread},{})", recording.round / 2 % 2));
        } else {
            let cell = (thread + 1) % THREADS;
            recording.decide(thread, format_args!("r(c{cell},{})", recording.round / 2 % 2));
        }
    }
    for came in 0..THREADS {
        recording.decide(came, format_args!("rmw.acqrel(count,{came},{})", (came + 1) % THREADS));
    }
    recording.event(THREADS - 1, format_args!("astore.rel(sense,{})", 1 - sense));
    for thread in 0..THREADS - 1 {
        recording.decide(thread, format_args!("aload.acq(sense,{})", 1 - sense));
    }
}

fn barrier(recording: &mut Recording) {
    const THREADS: usize = 4;
    let value = recording.round % 2;
    let meet = |recording: &mut Recording| {
        (0..THREADS).for_each(|thread| recording.event(thread, "arrive(b)"));
        (0..THREADS).for_each(|thread| recording.event(thread, "depart(b)"));
    };
    (0..THREADS).for_each(|thread| recording.event(thread, format_args!("w(c{thread},{value})")));
    meet(recording);
    for thread in 0..THREADS {
        recording.decide(thread, format_args!("r(c{},{value})", (thread + 1) % THREADS));
    }
    meet(recording);
}

/// Each thread takes a reference to one of four objects, reads it, and drops the reference; the last one to do so
/// writes the object. Of an object the word is the number of references.
fn reference_count(recording: &mut Recording) {
    let object = recording.random.below(4);
    let (holder, other) = (recording.random.below(4), recording.random.below(4));
    let both = if holder == other { vec![holder] } else { vec![holder, other] };
    let value = recording.words[object];
    for (count, &thread) in both.iter().enumerate() {
        recording.event(thread, format_args!("rmw.acq(refs{object},{count},{})", count + 1));
        recording.event(thread, format_args!("r(o{object},{value})"));
    }
    for (left, &thread) in both.iter().enumerate().rev() {
        recording.decide(thread, format_args!("rmw.acqrel(refs{object},{},{left})", left + 1));
        if left == 0 {
            recording.words[object] = 1 - value;
            recording.event(thread, format_args!("w(o{object},{})", 1 - value));
        }
    }
}

fn handshake(recording: &mut Recording) {
    let value = recording.round % 2;
    recording.event(0, format_args!("w(y,{value})"));
    recording.event(0, "astore.rel(f,1)");
    recording.decide(1, "aload.acq(f,1)");
    recording.decide(1, format_args!("r(y,{value})"));
    recording.event(1, "astore.rel(f,0)");
    recording.decide(0, "aload.acq(f,0)");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_families_are_well_formed_and_have_pairs() {
        for family in ALL {
            for seed in 0..3 {
                let trace = trace(family, 400, seed);
                assert!((400..460).contains(&trace.events().len()), "{}", family.0);
                assert!(trace.events().iter().all(|event| !event.unexplained), "{}", family.0);
                assert!(!last_pairs(&trace).is_empty(), "{}", family.0);
            }
        }
    }
}
