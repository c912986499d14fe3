//! States of the recorded run, so that a replay which begins as recorded need not begin at the first event.
//!
//! Most schedules for races of a long trace are the recorded run up to shortly before the race. The machine has run
//! that part before, step by step, under the strictest model; where it would block, no state is kept beyond.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use foretell_trace::EventId;

use crate::machine::Machine;
use foretell_trace::Model;

/// States are at least so many events apart: replaying these costs little.
const LEAST_DISTANCE: usize = 1 << 14;
/// How many states are kept at most,
const MOST: usize = 64;
/// and how many bytes they may take together.
const MOST_BYTES: usize = 64 << 20;

/// States of the recorded run at regular distances, made when they are first asked for. Clones share them.
#[derive(Clone)]
pub(crate) struct Checkpoints<'t> {
    distance: usize,
    /// The first is the one after `distance` events, and so on.
    states: Arc<Mutex<Vec<Machine<'t>>>>,
}

impl fmt::Debug for Checkpoints<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints").field("distance", &self.distance).finish_non_exhaustive()
    }
}

impl<'t> Checkpoints<'t> {
    /// Those of the trace that the machine is for, on which nothing has run yet.
    pub(crate) fn new(machine: &Machine<'t>) -> Checkpoints<'t> {
        let count = (MOST_BYTES / machine.size().max(1)).clamp(1, MOST);
        // To copy a state for less than this costs more than it saves.
        let least = LEAST_DISTANCE.max(machine.size() / 8);
        let distance = machine.event_count().div_ceil(count).max(least);
        Checkpoints::every(distance)
    }

    /// States so many events apart.
    pub(crate) fn every(distance: usize) -> Checkpoints<'t> {
        Checkpoints { distance, states: Arc::default() }
    }

    /// The last state before the schedule leaves the recorded run; none if that is the very first one. `start` is a
    /// machine on which nothing has run.
    pub(crate) fn before_leaving(
        &self,
        schedule: &[EventId],
        model: Model,
        start: &Machine<'t>,
    ) -> Option<Machine<'t>> {
        let is_recorded = |(place, event): (usize, &EventId)| event.index() == place;
        // Most schedules that leave it early need not be looked through.
        schedule.get(self.distance - 1).filter(|event| is_recorded((self.distance - 1, event)))?;
        let until = schedule.iter().enumerate().position(|step| !is_recorded(step)).unwrap_or(schedule.len());
        let mut machine = self.state(until / self.distance, start)?;
        machine.go_on_by(model).then_some(machine)
    }

    /// A copy of this state, or of the last one before it that can be reached.
    fn state(&self, number: usize, start: &Machine<'t>) -> Option<Machine<'t>> {
        // The list is never left half done.
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        while states.len() < number {
            let mut next = states.last().unwrap_or(start).clone();
            next.go_on_by(Model::SameWrite);
            if !next.run_as_recorded(self.distance) {
                break;
            }
            states.push(next);
        }
        states[..number.min(states.len())].last().cloned()
    }
}

#[cfg(test)]
mod tests {
    use foretell_testkit::tiny::{self, Features, Shape};
    use foretell_trace::Trace;

    use super::*;
    use crate::oracle;
    use crate::referee::{Claim, Proof, Referee};

    /// What a referee says whose checkpoints are so far apart.
    fn verdict(trace: &Trace, claim: &Claim, distance: usize) -> Result<(), String> {
        let mut referee = Referee::new(trace);
        referee.checkpoints = Checkpoints::every(distance);
        let verdicts = [(); 2].map(|()| referee.check(claim.clone()).map(drop).map_err(|no| no.to_string()));
        assert_eq!(verdicts[0], verdicts[1], "a claim leaves nothing behind");
        verdicts.into_iter().next().unwrap()
    }

    /// The schedule, and some that it becomes by a slip.
    fn with_slips(schedule: &[EventId]) -> Vec<Vec<EventId>> {
        let mut all = vec![schedule.to_vec()];
        for place in 0..schedule.len().saturating_sub(3) {
            let mut swapped = schedule.to_vec();
            swapped.swap(place, place + 1);
            let mut shorter = schedule.to_vec();
            shorter.remove(place);
            all.extend([swapped, shorter]);
        }
        all
    }

    #[test]
    fn checkpoints_change_no_verdict() {
        let features =
            |seed: u64| Features { values: seed.is_multiple_of(2), branches: true, ..Features::ALL };
        let shape = |seed| Shape::new(features(seed), 12);
        let (mut accepted, mut rejected) = (0, 0);
        tiny::for_each(100, shape, |seed, trace| {
            let model = [Model::SameWrite, Model::SameValue, Model::ControlFlow][(seed % 3) as usize];
            for (pair, schedule) in oracle::witnesses(trace, model, 10_000).unwrap_or_default() {
                for schedule in with_slips(&schedule) {
                    let proof = Proof::Adjacent { model, schedule };
                    let claim = Claim { first: pair.0, second: pair.1, proof };
                    let far = verdict(trace, &claim, usize::MAX);
                    for distance in 1..4 {
                        assert_eq!(verdict(trace, &claim, distance), far, "{claim:?}");
                    }
                    *(if far.is_ok() { &mut accepted } else { &mut rejected }) += 1;
                }
            }
        });
        assert!(accepted > 100 && rejected > 100, "{accepted} {rejected}");
    }
}
