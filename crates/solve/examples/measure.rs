//! Measures the solver on problems like those that it is made for.
//!
//! A random execution of threads that lock, read and write is to be reordered so that two of its events swap, while
//! locks still exclude and every read still reads its value. All requirements are stated at once ("eager"), or each
//! only when a schedule made from a solution breaks it ("lazy").
//!
//! `cargo run --release -p foretell-solve --example measure [eager|lazy] [events threads problems]...`

#![expect(clippy::cast_possible_truncation, reason = "the problems are small")]

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};
use std::time::{Duration, Instant};

use foretell_solve::{Lit, Node, OrderSolver, SearchAnswer, SearchLimits};

const PATIENCE: Duration = Duration::from_secs(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let default = [100, 4, 100, 300, 4, 100, 300, 8, 100, 1000, 8, 10, 1000, 16, 10];
    let sizes = if numbers.is_empty() { &default } else { &numbers[..] };
    println!(
        "{:5} {:>6} {:>7} {:>6} {:>6} {:>6} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9}",
        "mode",
        "events",
        "threads",
        "sat",
        "unsat",
        "given",
        "mean ms",
        "median",
        "max",
        "rounds",
        "conflicts",
        "decisions"
    );
    for size in sizes.chunks_exact(3) {
        for lazy in [true, false] {
            let mode = if lazy { "lazy" } else { "eager" };
            let other = if lazy { "eager" } else { "lazy" };
            if !arguments.iter().any(|argument| argument == other) {
                measure(mode, lazy, size[0], size[1], size[2]);
            }
        }
    }
}

fn measure(mode: &str, lazy: bool, events: usize, threads: usize, problems: usize) {
    let mut times = Vec::new();
    let (mut sat, mut unsat, mut given_up, mut rounds) = (0, 0, 0, 0);
    let (mut conflicts, mut decisions) = (0, 0);
    for seed in 0..problems {
        let trace = Trace::random(&mut Random(seed as u64 * 7919 + events as u64), events, threads);
        let (start, spent) = (Instant::now(), processor_time());
        let mut problem = Problem::new(&trace);
        match problem.solve(lazy, start + PATIENCE) {
            SearchAnswer::Sat => sat += 1,
            SearchAnswer::Unsat => unsat += 1,
            SearchAnswer::GaveUp => given_up += 1,
        }
        times.push((processor_time() - spent).as_secs_f64() * 1e3);
        rounds += problem.rounds;
        conflicts += problem.solver.statistics().conflicts;
        decisions += problem.solver.statistics().decisions;
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    println!(
        "{mode:5} {events:6} {threads:7} {sat:6} {unsat:6} {given_up:6} {mean:9.2} {:9.2} {:9.1} {:7} {:9} {:9}",
        times[times.len() / 2],
        times[times.len() - 1],
        rounds / problems,
        conflicts / problems as u64,
        decisions / problems as u64
    );
}

/// How much processor time the process has spent: on a busy machine more telling than the clock. Linux tells.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// A linear congruential generator, of which the upper bits are used.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[derive(Clone, Copy)]
enum Event {
    Acquire(usize),
    Release(usize),
    /// The variable and the value.
    Read(usize, usize),
    Write(usize, usize),
}

struct Trace {
    chain_of: Vec<u32>,
    events: Vec<Event>,
    /// For each lock its sections, from acquire to release.
    sections: Vec<Vec<(Node, Node)>>,
    /// For each event of a lock, which section it is of.
    section_of: Vec<usize>,
    /// For each variable its writes.
    writes: Vec<Vec<Node>>,
    /// Two events to be swapped.
    goal: (Node, Node),
}

impl Trace {
    fn random(random: &mut Random, length: usize, threads: usize) -> Trace {
        let (locks, vars) = (threads, 4);
        let mut trace = Trace {
            chain_of: Vec::new(),
            events: Vec::new(),
            sections: vec![Vec::new(); locks],
            section_of: Vec::new(),
            writes: vec![Vec::new(); vars],
            goal: (0, 0),
        };
        let mut held: Vec<Vec<usize>> = vec![Vec::new(); threads];
        let mut owner: Vec<Option<usize>> = vec![None; locks];
        let mut values = vec![0; vars];
        while trace.events.len() < length || held.iter().any(|locks| !locks.is_empty()) {
            let ending = trace.events.len() >= length;
            let thread = random.below(threads);
            let (lock, var) = (random.below(locks), random.below(vars));
            let event = match random.below(10) {
                _ if ending && held[thread].is_empty() => continue,
                0 if !ending && owner[lock].is_none() && held[thread].len() < 2 => Event::Acquire(lock),
                0..=2 => match held[thread].last() {
                    Some(&lock) => Event::Release(lock),
                    None => continue,
                },
                3..=5 => {
                    values[var] = random.below(3);
                    Event::Write(var, values[var])
                }
                _ => Event::Read(var, values[var]),
            };
            match event {
                Event::Acquire(lock) => {
                    owner[lock] = Some(thread);
                    held[thread].push(lock);
                }
                Event::Release(lock) => {
                    owner[lock] = None;
                    held[thread].pop();
                }
                _ => {}
            }
            trace.push(thread, event);
        }
        trace.goal = trace.random_goal(random);
        trace
    }

    fn push(&mut self, thread: usize, event: Event) {
        let node = self.events.len() as Node;
        self.chain_of.push(thread as u32);
        self.events.push(event);
        self.section_of.push(match event {
            Event::Acquire(lock) => {
                self.sections[lock].push((node, node));
                self.sections[lock].len() - 1
            }
            Event::Release(lock) => {
                let last = self.sections[lock].len() - 1;
                self.sections[lock][last].1 = node;
                last
            }
            Event::Write(var, _) => {
                self.writes[var].push(node);
                0
            }
            Event::Read(..) => 0,
        });
    }

    fn random_goal(&self, random: &mut Random) -> (Node, Node) {
        loop {
            let a = random.below(self.events.len());
            let b = a + 1 + random.below(self.chain_of.len() / 4);
            if b < self.events.len() && self.chain_of[a] != self.chain_of[b] {
                return (b as Node, a as Node);
            }
        }
    }

    /// The writes that a read may read from; none stands for the initial value.
    fn sources(&self, read: Node) -> Vec<Option<Node>> {
        let Event::Read(var, value) = self.events[read as usize] else { return Vec::new() };
        let fits = |write: &Node| matches!(self.events[*write as usize], Event::Write(_, of) if of == value);
        let writes = self.writes[var].iter().copied().filter(fits).map(Some);
        writes.chain((value == 0).then_some(None)).collect()
    }
}

struct Problem<'a> {
    trace: &'a Trace,
    solver: OrderSolver,
    /// For each read that clauses speak of, what it may read from, and the booleans that say so.
    sources: Vec<Vec<(Option<Node>, Lit)>>,
    stated: HashSet<(Node, Option<Node>, Node)>,
    rounds: usize,
}

impl<'a> Problem<'a> {
    fn new(trace: &'a Trace) -> Problem<'a> {
        let mut solver = OrderSolver::new(&trace.chain_of);
        solver.fact(trace.goal.0, trace.goal.1);
        let sources = vec![Vec::new(); trace.events.len()];
        Problem { trace, solver, sources, stated: HashSet::new(), rounds: 0 }
    }

    fn solve(&mut self, lazy: bool, deadline: Instant) -> SearchAnswer {
        if !lazy {
            self.state_all();
        }
        let limits = SearchLimits { deadline: Some(deadline), ..SearchLimits::default() };
        loop {
            self.rounds += 1;
            let answer = self.solver.solve(&limits);
            if answer != SearchAnswer::Sat || !self.state_broken() {
                return answer;
            }
            assert!(lazy, "all requirements were stated");
        }
    }

    fn state_all(&mut self) {
        for sections in &self.trace.sections {
            for (index, &first) in sections.iter().enumerate() {
                sections[index + 1..].iter().for_each(|&second| self.exclude(first, second));
            }
        }
        for read in 0..self.trace.events.len() as Node {
            if let Event::Read(var, _) = self.trace.events[read as usize] {
                self.state_read(read);
                for (source, literal) in self.sources[read as usize].clone() {
                    self.trace.writes[var]
                        .iter()
                        .for_each(|&write| self.keep_out(read, source, literal, write));
                }
            }
        }
    }

    fn exclude(&mut self, first: (Node, Node), second: (Node, Node)) {
        let clause = [self.solver.before(first.1, second.0), self.solver.before(second.1, first.0)];
        self.solver.clause(&clause);
    }

    /// The read reads from one of the writes that fit.
    fn state_read(&mut self, read: Node) {
        let sources = self.trace.sources(read);
        let latest = sources.iter().flatten().rfind(|&&source| source < read).copied();
        let mut somewhere = Vec::new();
        for source in sources {
            let from = source.map_or(Lit::TRUE, |source| self.solver.before(source, read));
            if from != Lit::FALSE {
                let literal = self.solver.boolean(source == latest);
                self.solver.clause(&[!literal, from]);
                self.sources[read as usize].push((source, literal));
                somewhere.push(literal);
            }
        }
        self.solver.clause(&somewhere);
    }

    /// No other write comes between.
    fn keep_out(&mut self, read: Node, source: Option<Node>, literal: Lit, write: Node) {
        if source != Some(write) && self.stated.insert((read, source, write)) {
            let before = source.map_or(Lit::FALSE, |source| self.solver.before(write, source));
            let clause = [!literal, before, self.solver.before(read, write)];
            self.solver.clause(&clause);
        }
    }

    /// States what a schedule made from the solution breaks. False if it breaks nothing.
    fn state_broken(&mut self) -> bool {
        let schedule = self.schedule();
        let mut broken = false;
        let mut holders: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.trace.sections.len()];
        let mut last: Vec<Option<Node>> = vec![None; self.trace.writes.len()];
        for node in schedule {
            match self.trace.events[node as usize] {
                Event::Acquire(lock) => {
                    let section = self.trace.section_of[node as usize];
                    for &holder in &holders[lock] {
                        let sections = &self.trace.sections[lock];
                        self.exclude(sections[holder], sections[section]);
                        broken = true;
                    }
                    holders[lock].insert(section);
                }
                Event::Release(lock) => {
                    holders[lock].remove(&self.trace.section_of[node as usize]);
                }
                Event::Write(var, _) => last[var] = Some(node),
                Event::Read(var, value) => broken |= self.state_broken_read(node, value, last[var]),
            }
        }
        broken
    }

    fn state_broken_read(&mut self, read: Node, value: usize, last: Option<Node>) -> bool {
        let seen = last.map_or(0, |write| match self.trace.events[write as usize] {
            Event::Write(_, value) => value,
            _ => 0,
        });
        if seen == value {
            return false;
        }
        if self.sources[read as usize].is_empty() {
            self.state_read(read);
        } else if let Some(write) = last {
            for (source, literal) in self.sources[read as usize].clone() {
                if self.solver.value(literal) {
                    self.keep_out(read, source, literal, write);
                }
            }
        }
        true
    }

    /// An order of all events that agrees with the solution, and else with the numbers.
    fn schedule(&self) -> Vec<Node> {
        let count = self.trace.events.len();
        let mut after: Vec<Vec<Node>> = vec![Vec::new(); count];
        let mut missing = vec![0; count];
        let mut latest: Vec<Option<Node>> = vec![None; count];
        let mut edges: Vec<(Node, Node)> = self.solver.edges().collect();
        edges.push(self.trace.goal);
        for (node, &chain) in (0..).zip(&self.trace.chain_of) {
            edges.extend(latest[chain as usize].replace(node).map(|previous| (previous, node)));
        }
        for (a, b) in edges {
            after[a as usize].push(b);
            missing[b as usize] += 1;
        }
        let mut ready: BinaryHeap<Reverse<Node>> =
            (0..count as Node).filter(|&node| missing[node as usize] == 0).map(Reverse).collect();
        let mut schedule = Vec::with_capacity(count);
        while let Some(Reverse(node)) = ready.pop() {
            schedule.push(node);
            for &next in &after[node as usize] {
                missing[next as usize] -= 1;
                if missing[next as usize] == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
        assert_eq!(schedule.len(), count, "the solution has a cycle");
        schedule
    }
}
