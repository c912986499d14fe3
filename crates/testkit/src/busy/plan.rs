//! What a thread of a busy program decides to do, a few steps at a time.

use super::Shape;
use crate::random::Random;

/// A counter runs through so many values, a variable without lock through one fewer.
pub(super) const COUNTER_VALUES: u32 = 4;
const RACY_VALUES: u32 = 3;
/// Data that is handed over is hardly ever the same twice.
const DATA_VALUES: u32 = 1000;

/// One step of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlannedOp {
    Read(usize),
    Write(usize, u32),
    /// Reads, and writes what follows from it.
    Increment(usize),
    Acquire(usize),
    Release(usize),
    Branch,
    /// Reads the flag, decides, and if it is set reads the data and resets the flag.
    Consume {
        flag: usize,
        data: usize,
    },
    Fork(usize),
    Join(usize),
    Begin,
    End,
}

/// Which variables serve which purpose: first those of the locks, then those without, then flags each with its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    shape: Shape,
}

impl Layout {
    pub(super) fn new(shape: Shape) -> Layout {
        Layout { shape }
    }

    /// How many variables there are.
    pub(super) fn vars(self) -> usize {
        self.channel(self.shape.channels).0
    }

    fn protected(self, lock: usize, random: &mut Random) -> usize {
        lock * self.shape.vars_per_lock + random.below(self.shape.vars_per_lock)
    }

    fn racy(self, random: &mut Random) -> usize {
        self.shape.locks * self.shape.vars_per_lock + random.below(self.shape.racy_vars)
    }

    /// The flag and the data of a channel.
    fn channel(self, number: usize) -> (usize, usize) {
        let flag = self.shape.locks * self.shape.vars_per_lock + self.shape.racy_vars + 2 * number;
        (flag, flag + 1)
    }

    fn any_channel(self, random: &mut Random) -> (usize, usize) {
        self.channel(random.below(self.shape.channels))
    }

    /// The next few steps of a thread that has nothing else to do.
    pub(super) fn plan(self, random: &mut Random) -> Vec<PlannedOp> {
        let mut steps = Vec::new();
        match random.below(10) {
            0..=3 => self.section(random, &mut steps),
            4 => self.forgotten_lock(random, &mut steps),
            5..=6 => {
                let var = self.racy(random);
                racy_access(random, var, 2, &mut steps);
            }
            7 => {
                let (flag, data) = self.any_channel(random);
                steps.extend([PlannedOp::Write(data, value(random, DATA_VALUES)), PlannedOp::Write(flag, 1)]);
            }
            8 => {
                let (flag, data) = self.any_channel(random);
                steps.push(PlannedOp::Consume { flag, data });
            }
            _ => self.publish_under_lock(random, &mut steps),
        }
        steps
    }

    /// Accesses under a lock, sometimes with a section of the next lock inside.
    fn section(self, random: &mut Random, steps: &mut Vec<PlannedOp>) {
        let lock = random.below(self.shape.locks);
        steps.push(PlannedOp::Acquire(lock));
        for _ in 0..1 + random.below(4) {
            let var = self.protected(lock, random);
            match random.below(4) {
                0 => read(random, var, steps),
                1 => steps.push(PlannedOp::Write(var, value(random, COUNTER_VALUES))),
                _ => steps.push(PlannedOp::Increment(var)),
            }
        }
        if random.once_in(4) {
            let var = self.racy(random);
            racy_access(random, var, 1, steps);
        }
        if random.once_in(6) && lock + 1 < self.shape.locks {
            let inner = lock + 1;
            let var = self.protected(inner, random);
            steps.extend([PlannedOp::Acquire(inner), PlannedOp::Increment(var), PlannedOp::Release(inner)]);
        }
        steps.push(PlannedOp::Release(lock));
        perhaps_branch(random, steps);
    }

    fn forgotten_lock(self, random: &mut Random, steps: &mut Vec<PlannedOp>) {
        let lock = random.below(self.shape.locks);
        let var = self.protected(lock, random);
        if random.once_in(3) {
            steps.push(PlannedOp::Write(var, value(random, COUNTER_VALUES)));
        } else {
            read(random, var, steps);
        }
    }

    /// Data first, then a mark under a lock: right only for readers of the mark.
    fn publish_under_lock(self, random: &mut Random, steps: &mut Vec<PlannedOp>) {
        let (_, data) = self.any_channel(random);
        let lock = random.below(self.shape.locks);
        let mark = lock * self.shape.vars_per_lock;
        steps.extend([
            PlannedOp::Write(data, value(random, DATA_VALUES)),
            PlannedOp::Acquire(lock),
            PlannedOp::Write(mark, 1),
            PlannedOp::Release(lock),
        ]);
    }
}

/// Reads `reads` times as often as it writes.
fn racy_access(random: &mut Random, var: usize, reads: usize, steps: &mut Vec<PlannedOp>) {
    if random.once_in(reads + 1) {
        steps.push(PlannedOp::Write(var, value(random, RACY_VALUES)));
    } else {
        read(random, var, steps);
    }
}

fn read(random: &mut Random, var: usize, steps: &mut Vec<PlannedOp>) {
    steps.push(PlannedOp::Read(var));
    perhaps_branch(random, steps);
}

fn perhaps_branch(random: &mut Random, steps: &mut Vec<PlannedOp>) {
    if random.once_in(3) {
        steps.push(PlannedOp::Branch);
    }
}

/// A value below `bound`.
fn value(random: &mut Random, bound: u32) -> u32 {
    u32::try_from(random.bits() % u64::from(bound)).unwrap_or(0)
}
