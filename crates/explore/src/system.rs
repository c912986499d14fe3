//! What can be walked: threads that take steps, one after the other, and can take them back.

/// Some threads in some state.
///
/// How many steps have been taken is a function of the state: every walk relies on it.
pub(crate) trait System: Clone + Send + Sync {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// Whether the thread can take a step now.
    fn is_enabled(&self, thread: usize) -> bool;

    /// Takes the next step of a thread that can take one.
    fn step(&mut self, thread: usize) -> Undo;

    /// Takes back the last step.
    fn undo(&mut self, thread: usize, undo: Undo);

    /// How long keys are.
    fn key_words(&self) -> usize;

    /// Writes down the state in full, but for what makes no difference to anything that can still happen.
    fn pack(&self, key: &mut [u64]);

    /// Goes to the state that was written down.
    fn unpack(&mut self, key: &[u64]);

    /// How many threads can take a step now.
    fn enabled(&self) -> usize {
        (0..self.threads()).filter(|&thread| self.is_enabled(thread)).count()
    }

    /// The present state, written down.
    fn key(&self) -> Box<[u64]> {
        let mut key = vec![0; self.key_words()].into_boxed_slice();
        self.pack(&mut key);
        key
    }
}

/// What it takes to take a step back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// Where the thread was.
    pub(crate) position: u32,
    /// What the step overwrote.
    pub(crate) content: u32,
}

/// Something that can be seen in a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Sight {
    /// The property with this number does not hold.
    Violation(usize),
    /// The threads at these two positions race.
    Race(u32, u32),
}

/// What looks at every state.
pub(crate) trait Observer<S: System>: Sync {
    /// Calls `seen` for everything that there is to see in the present state. Where `moved` tells which step has led
    /// here, what could be seen before that step may be left out.
    fn look(&self, system: &S, moved: Option<(usize, Undo)>, seen: impl FnMut(Sight));
}

/// Only counts.
pub(crate) struct Blind;

impl<S: System> Observer<S> for Blind {
    fn look(&self, _: &S, _: Option<(usize, Undo)>, _: impl FnMut(Sight)) {}
}
