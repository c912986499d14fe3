//! A shard has names of its own: those that its events use, numbered anew.

use foretell_trace::id::Id;
use foretell_trace::name::{Interner, NameError};
use foretell_trace::{Event, Loc, LockId, Names, Op, Symbol, ThreadId, Value, VarId, ops};
use rustc_hash::FxHashMap;

/// Takes events of a trace over into another with names of its own.
pub(crate) struct Renumber<'n> {
    from: &'n Names,
    pub(crate) names: Names,
    /// A variable is a name and a generation, so its name alone does not tell.
    vars: Known<VarId>,
    symbols: FxHashMap<Symbol, Symbol>,
    threads: Known<ThreadId>,
    locks: Known<LockId>,
}

/// The new ids that are known, by the old ones: to look up a name for every event would take long.
struct Known<I>(Vec<Option<I>>);

impl<I: Id> Known<I> {
    fn get(&mut self, old: I, find: impl FnOnce() -> Result<I, NameError>) -> Result<I, NameError> {
        let index = old.index();
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        match self.0[index] {
            Some(new) => Ok(new),
            None => Ok(*self.0[index].insert(find()?)),
        }
    }
}

impl<'n> Renumber<'n> {
    pub(crate) fn new(from: &'n Names) -> Renumber<'n> {
        Renumber {
            from,
            names: Names::default(),
            vars: Known(Vec::new()),
            symbols: FxHashMap::default(),
            threads: Known(Vec::new()),
            locks: Known(Vec::new()),
        }
    }

    /// The same event by the new names.
    pub(crate) fn event(&mut self, event: &Event) -> Result<Event, NameError> {
        let Renumber { from, names, threads, .. } = self;
        let thread = threads.get(event.thread, || same(&from.threads, &mut names.threads, event.thread))?;
        let loc = Loc(self.symbol(event.loc.0)?);
        Ok(Event { thread, loc, op: self.op(event.op)?, unexplained: false })
    }

    fn op(&mut self, op: Op) -> Result<Op, NameError> {
        match op {
            ops!(memory) => self.memory(op),
            ops!(locks) => self.lock(op),
            Op::Fork(child) => Ok(Op::Fork(same(&self.from.threads, &mut self.names.threads, child)?)),
            Op::Join(child) => Ok(Op::Join(same(&self.from.threads, &mut self.names.threads, child)?)),
            Op::Begin | Op::End | Op::Branch => Ok(op),
            ops!(semaphores | conditions | barriers | labels) => self.meeting(op),
        }
    }

    fn memory(&mut self, op: Op) -> Result<Op, NameError> {
        Ok(match op {
            Op::Read { var, value } => Op::Read { var: self.var(var)?, value: self.value(value)? },
            Op::Write { var, value } => Op::Write { var: self.var(var)?, value: self.value(value)? },
            Op::Load { var, value, order } => {
                Op::Load { var: self.var(var)?, value: self.value(value)?, order }
            }
            Op::Store { var, value, order } => {
                Op::Store { var: self.var(var)?, value: self.value(value)?, order }
            }
            Op::Rmw { var, read, written, order } => {
                Op::Rmw { var: self.var(var)?, read: self.value(read)?, written: self.value(written)?, order }
            }
            Op::Alloc(var) => Op::Alloc(self.var(var)?),
            Op::Free(var) => Op::Free(self.var(var)?),
            Op::Fence { .. } | ops!(locks | control | semaphores | conditions | barriers | labels) => op,
        })
    }

    fn lock(&mut self, op: Op) -> Result<Op, NameError> {
        let Renumber { from, names, locks, .. } = self;
        let mut name = |lock| locks.get(lock, || same(&from.locks, &mut names.locks, lock));
        Ok(match op {
            Op::Acquire(lock) => Op::Acquire(name(lock)?),
            Op::TryAcquire(lock) => Op::TryAcquire(name(lock)?),
            Op::Release(lock) => Op::Release(name(lock)?),
            Op::AcquireAgain(lock) => Op::AcquireAgain(name(lock)?),
            Op::ReleaseAgain(lock) => Op::ReleaseAgain(name(lock)?),
            Op::AcquireShared(lock) => Op::AcquireShared(name(lock)?),
            Op::TryAcquireShared(lock) => Op::TryAcquireShared(name(lock)?),
            Op::ReleaseShared(lock) => Op::ReleaseShared(name(lock)?),
            Op::AcquireSharedAgain(lock) => Op::AcquireSharedAgain(name(lock)?),
            Op::ReleaseSharedAgain(lock) => Op::ReleaseSharedAgain(name(lock)?),
            Op::TryAcquireFailed(lock) => Op::TryAcquireFailed(name(lock)?),
            Op::TryAcquireSharedFailed(lock) => Op::TryAcquireSharedFailed(name(lock)?),
            ops!(memory | control | semaphores | conditions | barriers | labels) => op,
        })
    }

    fn meeting(&mut self, op: Op) -> Result<Op, NameError> {
        let (from, names) = (self.from, &mut self.names);
        Ok(match op {
            Op::SemInit { sem, permits } => {
                Op::SemInit { sem: same(&from.sems, &mut names.sems, sem)?, permits }
            }
            Op::SemWait(sem) => Op::SemWait(same(&from.sems, &mut names.sems, sem)?),
            Op::SemPost(sem) => Op::SemPost(same(&from.sems, &mut names.sems, sem)?),
            Op::Wait { cond, lock } => {
                let cond = same(&from.conds, &mut names.conds, cond)?;
                Op::Wait { cond, lock: same(&from.locks, &mut names.locks, lock)? }
            }
            Op::Woken { cond, lock } => {
                let cond = same(&from.conds, &mut names.conds, cond)?;
                Op::Woken { cond, lock: same(&from.locks, &mut names.locks, lock)? }
            }
            Op::WaitTimeout { cond, lock } => {
                let cond = same(&from.conds, &mut names.conds, cond)?;
                Op::WaitTimeout { cond, lock: same(&from.locks, &mut names.locks, lock)? }
            }
            Op::Notify(cond) => Op::Notify(same(&from.conds, &mut names.conds, cond)?),
            Op::NotifyAll(cond) => Op::NotifyAll(same(&from.conds, &mut names.conds, cond)?),
            Op::Arrive(barrier) => Op::Arrive(same(&from.barriers, &mut names.barriers, barrier)?),
            Op::Depart(barrier) => Op::Depart(same(&from.barriers, &mut names.barriers, barrier)?),
            Op::Enter(label) => Op::Enter(same(&from.labels, &mut names.labels, label)?),
            Op::Exit(label) => Op::Exit(same(&from.labels, &mut names.labels, label)?),
            Op::Dummy(label) => Op::Dummy(same(&from.labels, &mut names.labels, label)?),
            ops!(memory | locks | control) => op,
        })
    }

    fn var(&mut self, var: VarId) -> Result<VarId, NameError> {
        let Renumber { from, names, vars, .. } = self;
        vars.get(var, || names.vars.renew(from.vars.name(var).as_bytes()))
    }

    fn value(&mut self, value: Option<Value>) -> Result<Option<Value>, NameError> {
        value.map(|value| Ok(Value(self.symbol(value.0)?))).transpose()
    }

    fn symbol(&mut self, symbol: Symbol) -> Result<Symbol, NameError> {
        if let Some(&known) = self.symbols.get(&symbol) {
            return Ok(known);
        }
        let new = self.names.symbol(self.from.symbol_text(symbol).as_bytes())?;
        self.symbols.insert(symbol, new);
        Ok(new)
    }
}

/// The id of the same name in another table.
fn same<I: Id>(from: &Interner<I>, to: &mut Interner<I>, id: I) -> Result<I, NameError> {
    to.intern(from.name(id).as_bytes())
}
