//! Locks: who may acquire and release them, and which acquires and releases only repeat others.

use super::{Checker, Verdict, Wrong, at, wrong};
use crate::id::{EventId, LockId, ThreadId};
use crate::name::Names;

impl Checker {
    /// Acquires a free lock, as nearly all acquires do; any other is left as it is.
    #[inline]
    pub(super) fn takes_free_lock(&mut self, id: EventId, thread: ThreadId, lock: LockId) -> bool {
        let state = at(&mut self.locks, lock.index());
        let free = state.writer.is_none() && state.readers.is_empty();
        if free {
            state.writer = Some((thread, id, 1));
        }
        free
    }

    /// Ends a section that is not nested, as nearly all releases do; any other is left as it is.
    #[inline]
    pub(super) fn gives_back_lock(&mut self, thread: ThreadId, lock: LockId) -> bool {
        let state = at(&mut self.locks, lock.index());
        let ends = matches!(state.writer, Some((owner, _, 1)) if owner == thread);
        if ends {
            state.writer = None;
        }
        ends
    }

    /// Whether the acquire begins a section (and does not merely repeat one).
    pub(super) fn acquire(
        &mut self,
        id: EventId,
        thread: ThreadId,
        lock: LockId,
        names: &Names,
    ) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        match &mut state.writer {
            Some((owner, _, depth)) if *owner == thread => {
                *depth = depth.checked_add(1).ok_or("the lock is acquired too deeply")?;
                Ok(false)
            }
            Some((owner, since, _)) => held(lock, *owner, *since, thread, names),
            None => match state.readers.iter().find(|reader| reader.0 != thread) {
                Some(&(owner, since, _)) => held(lock, owner, since, thread, names),
                None => {
                    state.writer = Some((thread, id, 1));
                    Ok(true)
                }
            },
        }
    }

    /// Whether the release ends the section.
    pub(super) fn release(&mut self, thread: ThreadId, lock: LockId, names: &Names) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        match &mut state.writer {
            Some((owner, _, depth)) if *owner == thread => {
                *depth -= 1;
                let ends = *depth == 0;
                if ends {
                    state.writer = None;
                }
                Ok(ends)
            }
            Some((owner, since, _)) => not_owner(lock, Some((*owner, *since)), thread, names),
            None => not_owner(lock, None, thread, names),
        }
    }

    pub(super) fn acquire_shared(
        &mut self,
        id: EventId,
        thread: ThreadId,
        lock: LockId,
        names: &Names,
    ) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        if let Some((owner, since, _)) = state.writer
            && owner != thread
        {
            return held(lock, owner, since, thread, names);
        }
        match state.readers.iter_mut().find(|reader| reader.0 == thread) {
            Some((_, _, depth)) => {
                *depth = depth.checked_add(1).ok_or("the lock is acquired too deeply")?;
                Ok(false)
            }
            None => {
                state.readers.push((thread, id, 1));
                Ok(true)
            }
        }
    }

    pub(super) fn release_shared(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        names: &Names,
    ) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        let Some(position) = state.readers.iter().position(|reader| reader.0 == thread) else {
            return not_owner(lock, state.writer.map(|(owner, since, _)| (owner, since)), thread, names);
        };
        state.readers[position].2 -= 1;
        let ends = state.readers[position].2 == 0;
        if ends {
            state.readers.swap_remove(position);
        }
        Ok(ends)
    }

    pub(super) fn try_failed(&mut self, lock: LockId, shared: bool, names: &Names) -> Verdict {
        let state = at(&mut self.locks, lock.index());
        if state.writer.is_some() || (!shared && !state.readers.is_empty()) {
            return Ok(());
        }
        wrong!("the attempt to acquire {} fails although no thread holds it", names.locks.name(lock))
    }
}

#[cold]
fn held<T>(
    lock: LockId,
    owner: ThreadId,
    since: EventId,
    thread: ThreadId,
    names: &Names,
) -> Result<T, Wrong> {
    let (lock, owner, thread) =
        (names.locks.name(lock), names.threads.name(owner), names.threads.name(thread));
    wrong!("{thread} acquires {lock} while {owner} holds it since event {since}")
}

#[cold]
pub(super) fn not_owner<T>(
    lock: LockId,
    owner: Option<(ThreadId, EventId)>,
    thread: ThreadId,
    names: &Names,
) -> Result<T, Wrong> {
    let (lock, thread) = (names.locks.name(lock), names.threads.name(thread));
    match owner {
        Some((owner, since)) => {
            let owner = names.threads.name(owner);
            wrong!("{thread} releases {lock}, which {owner} holds since event {since}")
        }
        None => wrong!("{thread} releases {lock}, which it does not hold"),
    }
}
