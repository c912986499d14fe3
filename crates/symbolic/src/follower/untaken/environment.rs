//! The environment of an untaken path: memory, locks, and names.

use foretell_trace::{Loc, LockId, Op, ThreadId, VarId};

/// A variable of the trace that is accessed on an untaken path.
#[derive(Clone, Debug)]
pub struct TouchedVar {
    /// The variable of the trace.
    pub var: VarId,
    /// The first byte of the access that it has,
    pub first: u32,
    /// and the one after the last.
    pub end: u32,
    /// Its last value, as far as that is known.
    pub guess: u64,
}

/// What an access on an untaken path touches.
#[derive(Debug)]
pub enum Footprint {
    /// Variables of the trace.
    Variables(Vec<TouchedVar>),
    /// Thread-local memory, with its content as far as that is known.
    Own([Option<u8>; 8]),
    /// Constant memory.
    Constant([Option<u8>; 8]),
}

/// The holder of a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockHolder {
    /// None.
    Free,
    /// The thread, once.
    Own,
    /// Another thread, or this one more than once.
    Other,
}

/// What the converter knows at the branch.
pub trait Environment {
    /// The thread; none if it has no name.
    fn thread(&mut self) -> Option<ThreadId>;
    /// How many events there are.
    fn events(&self) -> usize;
    /// How many steps the thread has made since its last event.
    fn since(&self) -> u64;
    /// Begins a path at the current position of the thread, after it has returned from so many calls.
    fn begin(&mut self, left: u32);
    /// A function is called at this site,
    fn enter(&mut self, site: u64);
    /// and left again.
    fn leave(&mut self);
    /// The location of a site; none if it has no name.
    fn loc(&mut self, site: u64) -> Option<Loc>;
    /// The events before something that happens at this site, and its location; none if that has no name.
    fn lead_to(&mut self, site: u64) -> Option<(Vec<(Op, Loc)>, Loc)>;
    /// What an access to so many bytes touches, at the address of a variable with a name or elsewhere; none if that
    /// is not known.
    fn touch(&mut self, address: u64, size: u32, writes: bool, is_named: bool) -> Option<Footprint>;
    /// The lock at this address and its holder, if it was acquired before in the run.
    fn lock(&self, address: u64) -> Option<(LockId, LockHolder)>;
}
