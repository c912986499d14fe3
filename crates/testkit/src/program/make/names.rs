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
    /// How many of the locals belong to the thread that starts this one, which has copies to look at.
    copies: usize,
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

    /// The names of locals that hold what is wanted.
    pub(super) fn locals(&self, wanted: Kind) -> Vec<&str> {
        names(&self.locals, wanted)
    }

    /// The same, but only those that can be assigned to.
    pub(super) fn own_locals(&self, wanted: Kind) -> Vec<&str> {
        names(&self.locals[self.copies..], wanted)
    }

    /// A thread of its own begins; gives what to tell [`Scope::leave_thread`].
    pub(super) fn enter_thread(&mut self) -> usize {
        std::mem::replace(&mut self.copies, self.locals.len())
    }

    /// The thread is over, and with it all that it declared.
    pub(super) fn leave_thread(&mut self, before: usize) {
        self.copies = before;
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

fn names(locals: &[(String, Kind)], wanted: Kind) -> Vec<&str> {
    locals.iter().filter(|(_, kind)| *kind == wanted).map(|(name, _)| name.as_str()).collect()
}
