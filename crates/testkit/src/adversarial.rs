//! Traces made to be hard: each drives up one quantity that some technique is superlinear in.

use foretell_trace::EventId;

use crate::random::Random;
use crate::script::Script;

/// A trace with a question about it whose answer is known.
#[derive(Debug)]
pub struct Puzzle {
    /// The trace.
    pub script: Script,
    /// Two conflicting accesses.
    pub pair: (EventId, EventId),
    /// Whether they race, where reads are compared by value.
    pub race: bool,
}

/// Thousands of writes of one value to one variable, all of them possible sources of a read that decides.
///
/// The producer writes the data and then raises the flag; the consumer sees the flag raised, decides, and writes the
/// data. So many `writers` raise the flag, too, from many threads, and readers look at it in between. Each of them
/// first waits for a start signal that the producer gives after its write of the data, so none of them helps the
/// consumer to come earlier, and all must be ruled out. If there is to be a `race`, one of them, somewhere, does not
/// wait.
pub fn same_value_writers(writers: usize, race: bool, seed: u64) -> Puzzle {
    const FLAG: usize = 0;
    const DATA: usize = 1;
    const START: usize = 2;
    const PRODUCER: usize = 0;
    const CONSUMER: usize = 1;
    const FIRST_HELPER: usize = 2;
    let mut random = Random::new(seed);
    let helpers = (writers / 10).clamp(2, 300);
    let impatient = race.then(|| FIRST_HELPER + helpers);
    let threads = FIRST_HELPER + helpers + usize::from(race);
    let mut script = Script::new(threads, 0, 3);
    script.write(PRODUCER, DATA, 1);
    let first = EventId::FIRST;
    script.write(PRODUCER, START, 1);
    for helper in FIRST_HELPER..FIRST_HELPER + helpers {
        script.read(helper, START);
        script.branch(helper);
    }
    let turn = random.below(writers.max(1));
    for number in 0..writers {
        let helper = FIRST_HELPER + random.below(helpers);
        script.write(helper, FLAG, 1);
        if let Some(impatient) = impatient.filter(|_| number == turn) {
            script.write(impatient, FLAG, 1);
        }
        if random.once_in(4) {
            let reader = FIRST_HELPER + random.below(helpers);
            script.read(reader, FLAG);
            script.branch(reader);
        }
    }
    script.write(PRODUCER, FLAG, 1);
    script.read(CONSUMER, FLAG);
    script.branch(CONSUMER);
    script.write(CONSUMER, DATA, 2);
    let second = EventId::from_index(script.len() - 1).unwrap_or(EventId::FIRST);
    Puzzle { script, pair: (first, second), race }
}

/// One lock with so many sections over eight threads, and accesses inside and outside of them.
pub fn one_lock(sections: usize, seed: u64) -> Script {
    const THREADS: usize = 8;
    const LOCKED: usize = 10;
    const BARE: usize = 10;
    let mut random = Random::new(seed);
    let mut script = Script::new(THREADS, 1, LOCKED + BARE);
    for _ in 0..sections {
        let thread = random.below(THREADS);
        if random.once_in(3) {
            let var = LOCKED + random.below(BARE);
            access(&mut script, &mut random, thread, var);
        }
        script.acquire(thread, 0);
        for _ in 0..1 + random.below(3) {
            let var = random.below(LOCKED);
            access(&mut script, &mut random, thread, var);
        }
        if random.once_in(10) {
            // What has no lock of its own is accessed under this one as well.
            let var = LOCKED + random.below(BARE);
            access(&mut script, &mut random, thread, var);
        }
        script.release(thread, 0);
        if random.once_in(100) {
            // A lock is left out.
            let (forgetful, var) = (random.below(THREADS), random.below(LOCKED));
            access(&mut script, &mut random, forgetful, var);
        }
    }
    script
}

/// So many threads, each forked, at work at the same time, ended and joined by the first: sections of some fifty locks,
/// shared variables, and some accesses without a lock.
pub fn many_threads(threads: usize, seed: u64) -> Script {
    const LOCKS: usize = 50;
    const ROUNDS: usize = 4;
    let mut random = Random::new(seed);
    let mut script = Script::new(threads, LOCKS, 2 * LOCKS);
    for child in 1..threads {
        script.fork(0, child);
    }
    let mut rounds = vec![ROUNDS; threads];
    // Threads are drawn at random, so that their rounds interleave; a thread that has done its work leaves.
    let mut working: Vec<usize> = (0..threads).collect();
    while !working.is_empty() {
        let place = random.below(working.len());
        let thread = working[place];
        if rounds[thread] == ROUNDS && thread != 0 {
            script.begin(thread);
        }
        round(&mut script, &mut random, thread, LOCKS);
        rounds[thread] -= 1;
        if rounds[thread] == 0 {
            working.swap_remove(place);
            if thread != 0 {
                script.end(thread);
            }
        }
    }
    for child in 1..threads {
        script.join(0, child);
    }
    script
}

/// A section on the first variable of its lock, and an access to a variable that has none.
fn round(script: &mut Script, random: &mut Random, thread: usize, locks: usize) {
    let lock = random.below(locks);
    script.acquire(thread, lock);
    access(script, random, thread, lock);
    access(script, random, thread, lock);
    script.release(thread, lock);
    if random.once_in(5) {
        let var = locks + random.below(locks);
        access(script, random, thread, var);
    }
}

/// A read, sometimes with a decision after it, or a write of a small value.
fn access(script: &mut Script, random: &mut Random, thread: usize, var: usize) {
    if random.once_in(2) {
        let value = (script.content(var) + 1) % 4;
        script.write(thread, var, value);
    } else {
        script.read(thread, var);
        if random.once_in(3) {
            script.branch(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::{Op, Trace};

    use super::*;

    fn read(script: Script) -> Trace {
        let trace = Trace::read(Box::new(script)).unwrap();
        assert!(trace.has_branches());
        assert!(trace.events().iter().all(|event| !event.unexplained));
        trace
    }

    fn count(trace: &Trace, wanted: impl Fn(Op) -> bool) -> usize {
        trace.events().iter().filter(|event| wanted(event.op)).count()
    }

    #[test]
    fn thousands_write_the_same_value() {
        for race in [false, true] {
            let puzzle = same_value_writers(5000, race, 1);
            let (first, second) = puzzle.pair;
            let trace = read(puzzle.script);
            let (first, second) = (trace.event(first), trace.event(second));
            assert_ne!(first.thread, second.thread);
            assert!(first.op.access().unwrap().conflicts_with(second.op.access().unwrap()));
            let flag = second.op.access().unwrap().var.index() - 1;
            let writes =
                count(&trace, |op| op.access().is_some_and(|a| a.var.index() == flag && a.kind.writes()));
            assert_eq!(writes, 5001 + usize::from(race));
            assert!(trace.thread_count() > 300);
        }
    }

    #[test]
    fn one_lock_has_all_sections() {
        let trace = read(one_lock(100_000, 1));
        assert_eq!(count(&trace, |op| matches!(op, Op::Release(_))), 100_000);
        assert_eq!(trace.thread_count(), 8);
    }

    #[test]
    fn all_of_many_threads_are_forked_and_joined() {
        let trace = read(many_threads(500, 1));
        assert_eq!(count(&trace, |op| matches!(op, Op::Fork(_))), 499);
        assert_eq!(count(&trace, |op| matches!(op, Op::Join(_))), 499);
        assert_eq!(trace.thread_count(), 500);
    }

    #[test]
    fn the_same_seed_gives_the_same_trace() {
        assert_eq!(read(one_lock(1000, 3)).events(), read(one_lock(1000, 3)).events());
        assert_ne!(read(one_lock(1000, 3)).events(), read(one_lock(1000, 4)).events());
    }
}
