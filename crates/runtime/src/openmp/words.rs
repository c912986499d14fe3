//! Words by which the threads of the library synchronise, as far as the log is concerned. They are in no memory.

use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use super::OpenMpState;
use crate::primitives::IMAGINED;
use crate::turn::Turn;

/// What a word is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OpenMpWordUse {
    /// A region begins.
    Fork = 1,
    /// A thread has come to the end of a region.
    Join,
    /// A thread has come to a barrier.
    Arrive,
    /// A barrier was opened.
    Open,
    /// A task was created, and has ended.
    Task,
    /// The body of a task has ended, but not the task.
    Detached,
    /// The event of a task has come before the end of its body.
    Fulfilled,
    /// Who is the one of a `single`.
    Single,
    /// How many chunks of a loop were handed out.
    Chunks,
    /// Who comes in order.
    Ordered,
    /// An iteration that others wait for.
    Iteration,
    /// The lock of tasks that exclude each other.
    Exclusive,
}

/// The address of a word, which is made of all that distinguishes it.
pub(super) fn word(kind: OpenMpWordUse, parts: &[u64]) -> u64 {
    const BITS: u32 = 45;
    let hash = |hash: u64, part: u64| {
        part.to_le_bytes()
            .iter()
            .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
    };
    let number = match *parts {
        [number] if number >> BITS == 0 => number,
        _ => parts.iter().fold(0xCBF2_9CE4_8422_2325, |all, &part| hash(all, part)) >> (u64::BITS - BITS),
    };
    IMAGINED | (kind as u64) << 50 | u64::from(parts.len() > 1) << 49 | number << 3
}

/// The thread passes on what it has done so far.
pub(super) fn send(turn: &Turn, addr: u64, value: u64) {
    let site = turn.me.site.get();
    turn.log(&Record::AtomicStore { site, addr, size: 8, value, order: MemoryOrder::Release });
}

/// The thread depends on what was sent with this value.
pub(super) fn receive(turn: &Turn, addr: u64, value: u64) {
    look(turn, addr, value, MemoryOrder::Acquire);
}

fn look(turn: &Turn, addr: u64, value: u64, order: MemoryOrder) {
    let site = turn.me.site.get();
    turn.log(&Record::AtomicLoad { site, addr, size: 8, value, order });
    turn.log_branch(site, None);
}

impl OpenMpState {
    /// The thread is the next one to come by.
    pub(super) fn come_by(&mut self, turn: &Turn, addr: u64, order: MemoryOrder) {
        let (site, count) = (turn.me.site.get(), self.counts.entry(addr).or_insert(0));
        let read = *count;
        *count += 1;
        turn.log(&Record::Rmw { site, addr, size: 8, read, written: *count, order });
        turn.log_branch(site, None);
    }

    /// The thread learns how many have come by.
    pub(super) fn look_at(&self, turn: &Turn, addr: u64) {
        let count = self.counts.get(&addr).copied().unwrap_or(0);
        look(turn, addr, count, MemoryOrder::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinguished_by_kind_and_parts() {
        let all = [
            word(OpenMpWordUse::Fork, &[1]),
            word(OpenMpWordUse::Fork, &[2]),
            word(OpenMpWordUse::Join, &[1]),
            word(OpenMpWordUse::Join, &[1, 2]),
            word(OpenMpWordUse::Join, &[2, 1]),
            word(OpenMpWordUse::Task, &[u64::MAX]),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other != one) && one % 8 == 0 && one & IMAGINED != 0);
        }
    }
}
