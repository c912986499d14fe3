//! Steps that look at, or change, more than one cell: conditions whose waiters any notification may wake, and barriers
//! that any threads may cross together.
//!
//! A cell for each thread that waits on a condition tells how many notifications of one thread have come since by which
//! no thread has returned. Which of them it returns by need not be said before: the first is the best, since who could
//! return by it could return by each later one. So it is one less for those who have waited at least as long.

/// The cell of a thread that does not wait, that of one which does, and how much each notification adds.
const AWAY: u32 = 0;
const WAITS: u32 = 1;

/// What a step does besides what its [`crate::program::Transition`] says.
#[derive(Clone, Debug)]
pub(crate) enum Special {
    /// The thread with this cell begins to wait.
    Wait { own: u32 },
    /// It returns; these are the cells of the condition, and what they hold if all were woken.
    Return { own: u32, waiters: Waiters },
    /// One of the waiting threads is woken.
    NotifyOne(Waiters),
    /// All of them are.
    NotifyAll(Waiters),
    /// The thread with this cell comes to a barrier; its cell tells how many have to come before it may leave.
    Arrive { own: u32, barrier: u32, size: u32 },
    /// It leaves.
    Depart { own: u32, barrier: u32 },
}

/// The cells of all threads that ever wait on one condition: so many from the first on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiters {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// More than any number of notifications adds up to: all were woken.
    pub(crate) woken: u32,
}

impl Waiters {
    fn of(self, cells: &mut [u32]) -> &mut [u32] {
        &mut cells[self.first as usize..][..self.count as usize]
    }
}

impl Special {
    /// Whether the step can be taken, as far as this is about it.
    pub(crate) fn is_enabled(&self, cells: &[u32]) -> bool {
        match *self {
            Special::Return { own, .. } => cells[own as usize] > WAITS,
            Special::Depart { own, barrier } => cells[barrier as usize] >= cells[own as usize],
            Special::Wait { .. } | Special::NotifyOne(_) | Special::NotifyAll(_) | Special::Arrive { .. } => {
                true
            }
        }
    }

    /// Takes the step; what it changes is put on `saved` first.
    pub(crate) fn act(&self, cells: &mut [u32], saved: &mut Vec<u32>) {
        let (first, count) = self.changes();
        saved.extend_from_slice(&cells[first as usize..][..count as usize]);
        match *self {
            Special::Wait { own } => cells[own as usize] = WAITS,
            Special::Return { own, waiters } => {
                let signals = std::mem::replace(&mut cells[own as usize], AWAY);
                if signals < waiters.woken {
                    for cell in waiters.of(cells) {
                        *cell -= u32::from(*cell >= signals && *cell < waiters.woken);
                    }
                }
            }
            Special::NotifyOne(waiters) => {
                for cell in waiters.of(cells) {
                    *cell += u32::from(*cell >= WAITS && *cell < waiters.woken);
                }
            }
            Special::NotifyAll(waiters) => {
                for cell in waiters.of(cells).iter_mut().filter(|cell| **cell >= WAITS) {
                    *cell = waiters.woken;
                }
            }
            Special::Arrive { own, barrier, size } => {
                cells[own as usize] = (cells[barrier as usize] / size + 1) * size;
            }
            Special::Depart { own, .. } => cells[own as usize] = 0,
        }
    }

    /// Takes the last step back.
    pub(crate) fn undo(&self, cells: &mut [u32], saved: &mut Vec<u32>) {
        let (first, count) = self.changes();
        let begin = saved.len() - count as usize;
        cells[first as usize..][..count as usize].copy_from_slice(&saved[begin..]);
        saved.truncate(begin);
    }

    /// The cells that the step changes: so many from the first on.
    fn changes(&self) -> (u32, u32) {
        match *self {
            Special::Return { waiters, .. } | Special::NotifyOne(waiters) | Special::NotifyAll(waiters) => {
                (waiters.first, waiters.count)
            }
            Special::Wait { own } | Special::Arrive { own, .. } | Special::Depart { own, .. } => (own, 1),
        }
    }
}
