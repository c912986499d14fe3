//! What a trace must say besides what happened.
//!
//! A trace says of memory and semaphores only what its events show: memory holds 0 and semaphores have the least number
//! of permits that explains the trace, unless it says otherwise. Where the program begins otherwise, and it matters, a
//! thread of its own sets things up and starts the others afterwards; so all that comes before everything else.

use std::collections::BTreeMap;

use super::recorder::{Happening, What};
use crate::machine::{Action, MemoryLocation, elements};
use crate::program::Program;

/// What has to be set up.
#[derive(Debug, Default)]
pub(super) struct Setup {
    /// Memory that does not hold 0 at the beginning.
    pub(super) memory: Vec<(MemoryLocation, i64)>,
    /// Semaphores that have more permits than the trace shows.
    pub(super) semaphores: Vec<(u32, u32)>,
}

/// What a trace shows of a semaphore.
#[derive(Clone, Copy, Default)]
struct Shown {
    /// How many permits were taken.
    waits: u32,
    /// How many more permits were taken than given.
    used: i64,
    /// The most that ever were: the least number of permits that explains the trace.
    least: i64,
}

impl Setup {
    pub(super) fn of(program: &Program, happenings: &[Happening]) -> Setup {
        let mut memory = BTreeMap::new();
        let mut shown: BTreeMap<u32, Shown> = BTreeMap::new();
        for happening in happenings {
            let What::Step { action, .. } = happening.what else { continue };
            match action {
                Action::Read(place) | Action::Write(place) => {
                    if let Some(number) = initial(program, place).filter(|&number| number != 0) {
                        memory.insert(place, number);
                    }
                }
                Action::SemWait(semaphore) => shown.entry(semaphore).or_default().wait(),
                Action::SemPost(semaphore) => shown.entry(semaphore).or_default().used -= 1,
                _ => {}
            }
        }
        let permits = |semaphore: u32| {
            let mut groups = program.semaphores.iter();
            groups.find(|(group, _)| elements(group).contains(&semaphore)).map_or(0, |(_, permits)| *permits)
        };
        let semaphores = shown.iter().map(|(&semaphore, shown)| (semaphore, permits(semaphore), shown));
        Setup {
            memory: memory.into_iter().collect(),
            semaphores: semaphores
                .filter(|(_, permits, shown)| shown.hides(*permits))
                .map(|(semaphore, permits, _)| (semaphore, permits))
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.semaphores.is_empty()
    }
}

impl Shown {
    fn wait(&mut self) {
        self.waits = self.waits.saturating_add(1);
        self.used += 1;
        self.least = self.least.max(self.used);
    }

    /// Whether more permits than the trace shows would let it happen in another order. They do not if there are enough
    /// for all who take one.
    fn hides(&self, permits: u32) -> bool {
        self.least < i64::from(permits) && self.least < i64::from(self.waits)
    }
}

/// What a shared variable holds at the beginning.
fn initial(program: &Program, place: MemoryLocation) -> Option<i64> {
    let MemoryLocation::Shared { variable, element } = place else { return None };
    let shared = program.shared.get(variable as usize)?;
    shared.initial.get(element.checked_sub(shared.group.first)? as usize).copied()
}
