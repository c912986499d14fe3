//! From the text of a trace to what the document says about its events.

/// What an event does. Objects go by number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Access(Touch),
    Alloc(usize),
    Free(usize),
    Acquire { lock: usize, shared: bool, tries: bool },
    Release { lock: usize, shared: bool },
    Attempt { lock: usize, shared: bool },
    Fork,
    Join(usize),
    End,
    Branch,
    Create { sem: usize, permits: u32 },
    Take(usize),
    Give(usize),
    Wait { cond: usize, lock: usize },
    Woken { cond: usize, lock: usize },
    Timeout { cond: usize, lock: usize },
    Notify(usize),
    NotifyAll(usize),
    Arrive(usize),
    Depart(usize),
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) var: usize,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) is_atomic: bool,
}

impl Act {
    pub(super) fn access(self) -> Option<Touch> {
        match self {
            Act::Access(access) => Some(access),
            Act::Free(var) => Some(Touch { var, reads: false, writes: true, is_atomic: false }),
            _ => None,
        }
    }
}

/// What a read saw: a value, or just a write; the write is `None` for what was there at first.
pub(super) enum Seen {
    Value(String, Option<usize>),
    Write(Option<usize>),
}

pub(super) struct Event {
    pub(super) thread: usize,
    /// Which of its thread's events this is, from 0 on.
    pub(super) place: usize,
    pub(super) act: Act,
    /// The value that it read, where it shows one.
    read: Option<String>,
    /// The value that it leaves, where it shows one.
    pub(super) left: Option<String>,
    pub(super) seen: Seen,
    pub(super) is_unexplained: bool,
    /// For a return from a wait: a notification explains it.
    pub(super) is_explained: bool,
    /// For an arrival or a departure: its crossing in the trace.
    pub(super) crossing: usize,
}

#[derive(Default)]
pub(super) struct Variable {
    pub(super) is_allocated: bool,
    /// What is there at first, if that equals anything.
    pub(super) initial: Option<String>,
}

#[derive(Default)]
pub(super) struct Barrier {
    /// For how many it is, if that is known.
    pub(super) size: Option<usize>,
    pub(super) crossings: Vec<Vec<usize>>,
}

/// A whole trace.
#[derive(Default)]
pub(super) struct Script {
    pub(super) events: Vec<Event>,
    /// The events of each thread.
    pub(super) threads: Vec<Vec<usize>>,
    pub(super) forks: Vec<Option<usize>>,
    pub(super) vars: Vec<Variable>,
    pub(super) lock_count: usize,
    /// Before anything has run.
    pub(super) permits: Vec<Option<u32>>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) has_branches: bool,
    conds: usize,
}

/// The names of one kind of thing, by number.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> usize {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_string());
            self.0.len() - 1
        })
    }
}

#[derive(Default)]
struct Reader {
    threads: Names,
    locks: Names,
    sems: Names,
    conds: Names,
    barriers: Names,
    /// The newest variable of each name.
    vars: Vec<(String, usize)>,
    var_count: usize,
}

impl Reader {
    fn var(&mut self, name: &str) -> usize {
        match self.vars.iter().find(|(known, _)| known == name) {
            Some(&(_, var)) => var,
            None => self.fresh(name),
        }
    }

    /// Memory that is allocated is a variable of its own.
    fn fresh(&mut self, name: &str) -> usize {
        self.vars.retain(|(known, _)| known != name);
        self.vars.push((name.to_string(), self.var_count));
        self.var_count += 1;
        self.var_count - 1
    }

    /// The operation, what it read and what it left.
    fn act(&mut self, op: &str) -> (Act, Option<String>, Option<String>) {
        let (name, arguments) =
            op.split_once('(').map_or((op, ""), |(name, rest)| (name, rest.trim_end_matches(')')));
        let arguments: Vec<&str> = arguments.split(',').filter(|argument| !argument.is_empty()).collect();
        let value = |index: usize| arguments.get(index).map(|&value| value.to_string());
        let first = arguments.first().copied().unwrap_or_default();
        let last = arguments.last().copied().unwrap_or_default();
        let mut access = |reads, writes, is_atomic| {
            let act = Act::Access(Touch { var: self.var(first), reads, writes, is_atomic });
            let read = reads.then(|| value(1)).flatten();
            let left = writes.then(|| value(if reads { 2 } else { 1 })).flatten();
            (act, read, left)
        };
        let kind = name.split('.').next().unwrap_or_default();
        match kind {
            "r" => return access(true, false, false),
            "w" => return access(false, true, false),
            "aload" => return access(true, false, true),
            "astore" => return access(false, true, true),
            "rmw" => return access(true, true, true),
            _ => {}
        }
        (self.other(kind, first, last), None, None)
    }

    fn other(&mut self, kind: &str, first: &str, last: &str) -> Act {
        match kind {
            "alloc" if self.vars.iter().any(|(known, _)| known == first) => Act::Alloc(self.fresh(first)),
            "alloc" => Act::Alloc(self.var(first)),
            "free" => Act::Free(self.var(first)),
            "acq" | "racq" | "try" | "rtry" => Act::Acquire {
                lock: self.locks.number(first),
                shared: kind.starts_with('r'),
                tries: kind.ends_with("try"),
            },
            "rel" | "rrel" => Act::Release { lock: self.locks.number(first), shared: kind == "rrel" },
            "tryfail" | "rtryfail" => {
                Act::Attempt { lock: self.locks.number(first), shared: kind == "rtryfail" }
            }
            "fork" => {
                self.threads.number(first);
                Act::Fork
            }
            "join" => Act::Join(self.threads.number(first)),
            "end" => Act::End,
            "branch" => Act::Branch,
            "sem" => Act::Create { sem: self.sems.number(first), permits: last.parse().unwrap_or(0) },
            "p" => Act::Take(self.sems.number(first)),
            "v" => Act::Give(self.sems.number(first)),
            "wait" => Act::Wait { cond: self.conds.number(first), lock: self.locks.number(last) },
            "woken" => Act::Woken { cond: self.conds.number(first), lock: self.locks.number(last) },
            "timeout" => Act::Timeout { cond: self.conds.number(first), lock: self.locks.number(last) },
            "notify" => Act::Notify(self.conds.number(first)),
            "notifyall" => Act::NotifyAll(self.conds.number(first)),
            "arrive" => Act::Arrive(self.barriers.number(first)),
            "depart" => Act::Depart(self.barriers.number(first)),
            _ => Act::Nothing,
        }
    }
}

impl Script {
    pub(super) fn new(text: &str) -> Script {
        let mut reader = Reader::default();
        let mut script = Script::default();
        let mut forks = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut parts = line.split('|');
            let thread = reader.threads.number(parts.next().unwrap_or_default());
            let op = parts.next().unwrap_or_default();
            let (act, read, left) = reader.act(op);
            if act == Act::Fork {
                let child = op.trim_start_matches("fork(").trim_end_matches(')');
                forks.push((reader.threads.number(child), script.events.len()));
            }
            script.has_branches |= act == Act::Branch;
            script.events.push(Event {
                thread,
                place: 0,
                act,
                read,
                left,
                seen: Seen::Write(None),
                is_unexplained: false,
                is_explained: false,
                crossing: 0,
            });
        }
        script.forks = vec![None; reader.threads.0.len()];
        for (child, fork) in forks {
            script.forks[child] = Some(fork);
        }
        script.threads = vec![Vec::new(); reader.threads.0.len()];
        for (index, event) in script.events.iter_mut().enumerate() {
            event.place = script.threads[event.thread].len();
            script.threads[event.thread].push(index);
        }
        script.vars.resize_with(reader.var_count, Variable::default);
        script.lock_count = reader.locks.0.len();
        script.conds = reader.conds.0.len();
        script.permits = vec![Some(0); reader.sems.0.len()];
        script.barriers.resize_with(reader.barriers.0.len(), Barrier::default);
        script.find_reads();
        script.find_permits();
        script.find_explained();
        script.find_crossings();
        script
    }

    /// The events that no write explains.
    pub(super) fn unexplained(&self) -> impl Iterator<Item = usize> {
        (0..self.events.len()).filter(|&index| self.events[index].is_unexplained)
    }

    fn find_reads(&mut self) {
        for event in &self.events {
            if let Act::Alloc(var) = event.act {
                self.vars[var].is_allocated = true;
            }
        }
        // The last write of each variable, what it shows, and what the variable is known to hold.
        let mut last: Vec<(Option<usize>, Option<String>, Option<String>)> =
            vec![(None, None, None); self.vars.len()];
        for (index, event) in self.events.iter_mut().enumerate() {
            let Act::Access(access) = event.act else { continue };
            let (write, shown, known) = &mut last[access.var];
            if access.reads {
                event.is_unexplained = event.read.is_some() && known.is_some() && *known != event.read;
                if write.is_none() && shown.is_none() {
                    shown.clone_from(&event.read);
                    self.vars[access.var].initial.clone_from(&event.read);
                }
                event.seen = match (&event.read, &shown) {
                    (Some(value), Some(_)) => Seen::Value(value.clone(), *write),
                    _ => Seen::Write(*write),
                };
                if event.read.is_some() {
                    known.clone_from(&event.read);
                }
                if event.is_unexplained && !access.writes {
                    event.left.clone_from(&event.read);
                }
            }
            if access.writes || event.is_unexplained {
                (*write, *shown, *known) = (Some(index), event.left.clone(), event.left.clone());
            }
        }
        for var in self.vars.iter_mut().filter(|var| !var.is_allocated && var.initial.is_none()) {
            var.initial = Some("0".to_string());
        }
    }

    fn find_permits(&mut self) {
        let mut balance = vec![0i64; self.permits.len()];
        for event in &self.events {
            match event.act {
                Act::Create { sem, .. } => self.permits[sem] = None,
                Act::Give(sem) => balance[sem] += 1,
                Act::Take(sem) => {
                    balance[sem] -= 1;
                    let lacking = u32::try_from(-balance[sem]).unwrap_or(0);
                    self.permits[sem] = self.permits[sem].map(|least| least.max(lacking));
                }
                _ => {}
            }
        }
    }

    fn find_explained(&mut self) {
        // Which return each thread waits for, on which condition.
        let mut waiting: Vec<Option<(usize, usize)>> = vec![None; self.threads.len()];
        for index in 0..self.events.len() {
            let Event { thread, place, act, .. } = self.events[index];
            match act {
                Act::Wait { cond, .. } => {
                    waiting[thread] = self.threads[thread].get(place + 1).map(|&back| (cond, back));
                }
                Act::Woken { .. } | Act::Timeout { .. } => waiting[thread] = None,
                Act::Notify(cond) | Act::NotifyAll(cond) => {
                    let mut backs: Vec<usize> = waiting
                        .iter()
                        .flatten()
                        .filter(|(on, _)| *on == cond)
                        .map(|&(_, back)| back)
                        .collect();
                    backs.retain(|&back| {
                        matches!(self.events[back].act, Act::Woken { .. }) && !self.events[back].is_explained
                    });
                    backs.sort_unstable();
                    if act == Act::Notify(cond) {
                        backs.truncate(1);
                    }
                    backs.into_iter().for_each(|back| self.events[back].is_explained = true);
                }
                _ => {}
            }
        }
    }

    fn find_crossings(&mut self) {
        for number in 0..self.barriers.len() {
            let barrier = &mut self.barriers[number];
            let mut inside: Vec<Option<usize>> = vec![None; self.threads.len()];
            barrier.crossings.push(Vec::new());
            for (index, event) in self.events.iter_mut().enumerate() {
                let open = barrier.crossings.len() - 1;
                if event.act == Act::Arrive(number) {
                    event.crossing = open;
                    inside[event.thread] = Some(open);
                    barrier.crossings[open].push(index);
                } else if event.act == Act::Depart(number) {
                    event.crossing = inside[event.thread].take().unwrap_or(0);
                    if event.crossing == open {
                        barrier.crossings.push(Vec::new());
                    }
                }
            }
            let (departed, last) = barrier.crossings.split_at(barrier.crossings.len() - 1);
            barrier.size = match departed.first().map(Vec::len) {
                // No thread departs, so it does not matter.
                None => Some(usize::MAX),
                Some(size) => {
                    let same =
                        departed.iter().all(|crossing| crossing.len() == size) && last[0].len() <= size;
                    same.then_some(size)
                }
            };
        }
    }
}
