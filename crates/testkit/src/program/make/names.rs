//! What can be named at some point of a program.

/// What a local is meant to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Number,
    Reference,
    /// The counter of a loop: only to be looked at.
    Counter,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    pub(super) name: String,
    /// Its parameter that counts down, if it calls itself.
    pub(super) fuel: Option<String>,
    /// How many other parameters it has.
    pub(super) parameters: usize,
    /// About how many steps it takes.
    pub(super) cost: isize,
}

/// What is declared so far.
#[derive(Default, Debug)]
pub(super) struct Scope {
    /// Variables that hold numbers, plain or atomic.
    pub(super) numbers: Vec<String>,
    pub(super) locks: Vec<String>,
    pub(super) functions: Vec<Callee>,
    locals: Vec<(String, Kind)>,
    /// How many names were made up. Only grows: no name means two things.
    made_up: usize,
}

impl Scope {
    /// A name that nothing else has.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.made_up += 1;
        format!("{prefix}{}", self.made_up)
    }

    pub(super) fn add(&mut self, local: &str, kind: Kind) {
        self.locals.push((local.to_string(), kind));
    }

    /// The names of locals that hold what is wanted. Counters are numbers to those who only look.
    pub(super) fn locals(&self, wanted: Kind) -> Vec<&str> {
        self.locals.iter().filter(|(_, kind)| *kind == wanted).map(|(name, _)| name.as_str()).collect()
    }

    /// How far back to go when the present block ends.
    pub(super) fn mark(&self) -> usize {
        self.locals.len()
    }

    /// The block that began at the mark has ended.
    pub(super) fn forget(&mut self, mark: usize) {
        self.locals.truncate(mark);
    }
}
