//! Random tiny traces that some program could have produced: found by simulating one.
//!
//! A choice that cannot be followed in the present state is skipped, so any sequence of choices gives a trace, and a
//! shrunk sequence gives a smaller one.

use proptest::prelude::*;

/// What may appear in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flavour {
    /// Plain accesses, locks, fork, join, branches.
    Locks,
    /// All but atomics and failed attempts: what schedulable happens-before is about.
    Synchronised,
    /// All operations.
    Everything,
}

/// The text of a random trace with at most `length` events.
pub(crate) fn traces(flavour: Flavour, length: usize) -> impl Strategy<Value = String> {
    (prop::collection::vec(any::<[u8; 3]>(), length..length * 3), 2..5usize, any::<bool>(), any::<u8>())
        .prop_map(move |(choices, threads, values, forks)| {
            let mut simulation = Simulation::new(threads, values, forks);
            for choice in choices {
                if simulation.lines.len() < length {
                    simulation.follow(flavour, choice);
                }
            }
            if simulation.lines.is_empty() {
                simulation.say(0, "w(x)");
            }
            simulation.lines.concat()
        })
}

const VARS: [&str; 3] = ["x", "y", "z"];
const LOCKS: [&str; 2] = ["l", "m"];
const ORDERS: [&str; 5] = [".rlx", ".acq", ".rel", ".acqrel", ".sc"];

#[derive(Default)]
struct Simulation {
    lines: Vec<String>,
    values: bool,
    threads: Vec<Thread>,
    /// Plain variables, then the atomic one, then the allocated one.
    memory: [u8; 5],
    heap: Heap,
    permits: u8,
    semaphore_created: bool,
    semaphore_used: bool,
    arrived: usize,
}

#[derive(Default)]
struct Thread {
    /// Its fork is to come.
    unborn: bool,
    began: bool,
    over: bool,
    /// Locks in the order in which they were taken; shared ones are marked.
    held: Vec<(usize, bool)>,
    waits: bool,
    inside: bool,
    may_depart: bool,
}

#[derive(Default, PartialEq)]
enum Heap {
    #[default]
    Nothing,
    Allocated,
    Freed,
}

impl Simulation {
    fn new(threads: usize, values: bool, forks: u8) -> Simulation {
        let thread =
            |index: usize| Thread { unborn: index > 0 && forks >> index & 1 == 1, ..Thread::default() };
        Simulation { values, threads: (0..threads).map(thread).collect(), ..Simulation::default() }
    }

    fn say(&mut self, thread: usize, op: &str) {
        self.threads[thread].began = true;
        let number = self.lines.len() + 1;
        self.lines.push(format!("t{thread}|{op}|{number}\n"));
    }

    fn follow(&mut self, flavour: Flavour, [thread, op, argument]: [u8; 3]) {
        let thread = thread as usize % self.threads.len();
        let argument = argument as usize;
        let state = &self.threads[thread];
        if state.unborn || state.over {
            return;
        }
        if state.waits {
            return self.return_from_wait(thread, argument);
        }
        if state.inside && (state.may_depart || op.is_multiple_of(2)) {
            return self.depart(thread);
        }
        let kinds = match flavour {
            Flavour::Locks => 14,
            Flavour::Synchronised => 23,
            Flavour::Everything => 30,
        };
        match op % kinds {
            0..3 => self.read(thread, argument),
            3..6 => self.write(thread, argument),
            6 | 7 => self.acquire(thread, argument),
            8 | 9 => self.release(thread),
            10 => self.say(thread, "branch"),
            11 | 12 => self.fork(thread, argument),
            13 => self.join(thread, argument),
            14 => self.acquire_shared(thread, argument),
            15 => self.semaphore_wait(thread),
            16 => self.semaphore_post(thread, argument),
            17 => self.wait(thread),
            18 => self.say(thread, ["notify(c)", "notifyall(c)"][argument % 2]),
            19 => self.arrive(thread),
            20 | 21 => self.heap(thread, argument),
            22 => self.unexplained(thread, argument),
            23..26 => self.atomic(thread, argument),
            26 => self.mixed(thread, argument),
            27 => self.say(thread, &format!("fence{}", ORDERS[1 + argument % 4])),
            _ => self.attempt(thread, argument),
        }
    }

    fn value(&self, value: u8) -> String {
        if self.values { format!(",{value}") } else { String::new() }
    }

    fn read(&mut self, thread: usize, argument: usize) {
        let var = argument % VARS.len();
        self.say(thread, &format!("r({}{})", VARS[var], self.value(self.memory[var])));
    }

    fn write(&mut self, thread: usize, argument: usize) {
        let var = argument % VARS.len();
        self.memory[var] = u8::from(!(argument / VARS.len()).is_multiple_of(3));
        self.say(thread, &format!("w({}{})", VARS[var], self.value(self.memory[var])));
    }

    fn holders(&self, lock: usize) -> impl Iterator<Item = (usize, bool)> {
        self.threads.iter().enumerate().flat_map(move |(thread, state)| {
            state.held.iter().filter(move |held| held.0 == lock).map(move |held| (thread, held.1))
        })
    }

    fn acquire(&mut self, thread: usize, argument: usize) {
        let lock = argument % LOCKS.len();
        if self.holders(lock).all(|(holder, _)| holder == thread) {
            self.threads[thread].held.push((lock, false));
            self.say(thread, &format!("acq({})", LOCKS[lock]));
        }
    }

    fn acquire_shared(&mut self, thread: usize, argument: usize) {
        let lock = argument % LOCKS.len();
        if self.holders(lock).all(|(_, shared)| shared) {
            self.threads[thread].held.push((lock, true));
            self.say(thread, &format!("racq({})", LOCKS[lock]));
        }
    }

    fn release(&mut self, thread: usize) {
        if let Some((lock, shared)) = self.threads[thread].held.pop() {
            self.say(thread, &format!("{}({})", if shared { "rrel" } else { "rel" }, LOCKS[lock]));
        }
    }

    fn attempt(&mut self, thread: usize, argument: usize) {
        let lock = argument % LOCKS.len();
        if self.holders(lock).any(|(_, shared)| !shared) {
            self.say(thread, &format!("{}({})", ["tryfail", "rtryfail"][argument / 2 % 2], LOCKS[lock]));
        } else if self.holders(lock).next().is_some() {
            self.say(thread, &format!("tryfail({})", LOCKS[lock]));
        }
    }

    fn fork(&mut self, thread: usize, argument: usize) {
        let child = argument % self.threads.len();
        if child != thread && self.threads[child].unborn {
            self.threads[child].unborn = false;
            self.say(thread, &format!("fork(t{child})"));
        }
    }

    fn join(&mut self, thread: usize, argument: usize) {
        let child = argument % self.threads.len();
        let state = &mut self.threads[child];
        if child != thread && state.began && !state.waits {
            state.over = true;
            self.say(thread, &format!("join(t{child})"));
        }
    }

    fn semaphore_wait(&mut self, thread: usize) {
        if self.permits > 0 || !self.semaphore_created {
            self.permits = self.permits.saturating_sub(1);
            self.semaphore_used = true;
            self.say(thread, "p(s)");
        }
    }

    fn semaphore_post(&mut self, thread: usize, argument: usize) {
        if !self.semaphore_used && argument.is_multiple_of(3) {
            self.semaphore_created = true;
            self.permits = 1;
            self.say(thread, "sem(s,1)");
        } else {
            self.permits += 1;
            self.say(thread, "v(s)");
        }
        self.semaphore_used = true;
    }

    fn wait(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        let owns = state.held.contains(&(0, false)) && !state.held.contains(&(0, true));
        if owns && state.held.iter().filter(|held| held.0 == 0).count() == 1 {
            state.held.retain(|held| held.0 != 0);
            state.waits = true;
            self.say(thread, "wait(c,l)");
        }
    }

    fn return_from_wait(&mut self, thread: usize, argument: usize) {
        if self.holders(0).next().is_none() {
            self.threads[thread].waits = false;
            self.threads[thread].held.push((0, false));
            self.say(thread, if argument.is_multiple_of(4) { "timeout(c,l)" } else { "woken(c,l)" });
        }
    }

    /// The barrier is for two.
    fn arrive(&mut self, thread: usize) {
        if self.threads[thread].inside || self.threads.iter().any(|state| state.may_depart) {
            return;
        }
        self.threads[thread].inside = true;
        self.arrived += 1;
        self.say(thread, "arrive(b)");
        if self.arrived == 2 {
            self.arrived = 0;
            for state in self.threads.iter_mut().filter(|state| state.inside) {
                state.may_depart = true;
            }
        }
    }

    fn depart(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        if state.may_depart {
            (state.inside, state.may_depart) = (false, false);
            self.say(thread, "depart(b)");
        }
    }

    fn heap(&mut self, thread: usize, argument: usize) {
        match (&self.heap, argument % 6) {
            (Heap::Nothing, _) => {
                self.heap = Heap::Allocated;
                self.say(thread, "alloc(h)");
            }
            (Heap::Allocated, 0) => {
                self.heap = Heap::Freed;
                self.say(thread, "free(h)");
            }
            (Heap::Allocated, 1..4) => {
                self.memory[4] = 1;
                self.say(thread, &format!("w(h{})", self.value(1)));
            }
            (Heap::Allocated, _) => self.say(thread, &format!("r(h{})", self.value(self.memory[4]))),
            (Heap::Freed, _) => {}
        }
    }

    /// Somebody outside writes, and the thread sees it.
    fn unexplained(&mut self, thread: usize, argument: usize) {
        if self.values && argument.is_multiple_of(4) {
            self.memory[0] = 7;
            self.say(thread, "r(x,7)");
        }
    }

    fn atomic(&mut self, thread: usize, argument: usize) {
        let order = ORDERS[argument % 5];
        let (seen, written) = (self.memory[3], u8::from(argument.is_multiple_of(2)));
        match argument / 5 % 3 {
            0 => self.say(thread, &format!("aload{order}(f{})", self.value(seen))),
            1 => {
                self.memory[3] = written;
                self.say(thread, &format!("astore{order}(f{})", self.value(written)));
            }
            _ => {
                self.memory[3] = written;
                self.say(thread, &format!("rmw{order}(f{}{})", self.value(seen), self.value(written)));
            }
        }
    }

    /// A plain access to the variable that others use atomically.
    fn mixed(&mut self, thread: usize, argument: usize) {
        if argument.is_multiple_of(2) {
            self.say(thread, &format!("r(f{})", self.value(self.memory[3])));
        } else {
            self.memory[3] = 1;
            self.say(thread, &format!("w(f{})", self.value(1)));
        }
    }
}
