//! From the witness of a race or a deadlock to a schedule that the program itself can follow, see
//! `foretell_wire::schedule`.

use foretell_report::{PredictedDeadlock, PredictedViolation, Race};
use foretell_trace::{Event, EventId, Op, Trace};
use foretell_wire::schedule::{
    AccessDraft, CircleDraft, EndingDraft, RacingAction, ScheduleDraft, WaitDraft,
};

/// So many turns all schedules of a report have together: more would make it many times larger.
const TURNS: usize = 200_000;

/// What was run, to be run again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The program; empty if it is not known.
    pub program: &'a str,
    /// What it was given.
    pub arguments: &'a [String],
    /// What the choices were drawn from.
    pub seed: u64,
}

/// Makes the schedules of one report.
pub(crate) struct Schedules<'a> {
    origin: Origin<'a>,
    /// The trace names threads by descent itself, as the machine of CIMP programs does.
    has_names: bool,
    /// How many more turns there may be.
    left: usize,
}

impl Schedules<'_> {
    pub(crate) fn new(origin: Origin<'_>, has_names: bool) -> Schedules<'_> {
        Schedules { origin, has_names, left: TURNS }
    }

    /// Adds to all that comes with a witness of the trace the schedule for it, if the recorder has counted steps.
    pub(crate) fn add(
        &mut self,
        trace: &Trace,
        races: &mut [Race],
        deadlocks: &mut [PredictedDeadlock],
        violations: &mut [PredictedViolation],
    ) {
        let is_wanted = !races.is_empty() || !deadlocks.is_empty() || !violations.is_empty();
        let Some(steps) = trace.steps().filter(|_| is_wanted) else { return };
        let names = if self.has_names { own_names(trace) } else { descents(trace) };
        let way = Way { trace, made: steps.made(trace.events()), names, origin: self.origin };
        for race in races {
            race.schedule = self.text(way.to_race(race));
        }
        for deadlock in deadlocks {
            deadlock.schedule = self.text(way.to_deadlock(deadlock));
        }
        for violation in violations {
            violation.schedule = self.text(way.to_use(violation));
        }
    }

    fn text(&mut self, draft: Option<ScheduleDraft>) -> Option<String> {
        let draft = draft.filter(|draft| draft.turns.len() <= self.left)?;
        self.left -= draft.turns.len();
        Some(draft.to_string())
    }
}

/// What the trace calls each thread.
fn own_names(trace: &Trace) -> Vec<Option<String>> {
    trace.threads().map(|thread| Some(trace.names().threads.name(thread).to_string())).collect()
}

/// The name of each thread by descent. Unknown for threads without a fork event.
pub fn descents(trace: &Trace) -> Vec<Option<String>> {
    let forks = |event: &Event| matches!(event.op, Op::Fork(_));
    let mut names = vec![None; trace.thread_count()];
    let first = trace.events().first().map(|event| event.thread.index());
    if let Some(name) = first.and_then(|first| names.get_mut(first)) {
        *name = Some("main".to_string());
    }
    let mut children = vec![0_u32; trace.thread_count()];
    for event in trace.events().iter().filter(|event| forks(event)) {
        let (Op::Fork(child), parent) = (event.op, event.thread.index()) else { continue };
        children[parent] += 1;
        names[child.index()] = names[parent].as_ref().map(|name| format!("{name}.{}", children[parent]));
    }
    names
}

/// What has to be known of a trace to lead its program somewhere.
struct Way<'a> {
    trace: &'a Trace,
    /// How many steps the thread of each event has made there.
    made: Vec<u64>,
    names: Vec<Option<String>>,
    origin: Origin<'a>,
}

impl Way<'_> {
    fn to_race(&self, race: &Race) -> Option<ScheduleDraft> {
        let (before, &[first, second]) = race.witness.as_deref()?.split_last_chunk::<2>()?;
        let ending = EndingDraft::Race([self.access(first)?, self.access(second)?]);
        self.draft(race.fingerprint.as_ref(), before, ending)
    }

    fn to_deadlock(&self, deadlock: &PredictedDeadlock) -> Option<ScheduleDraft> {
        let witness = deadlock.witness.as_deref()?;
        let (before, waits) = witness.split_at_checked(witness.len().checked_sub(deadlock.waiting.len())?)?;
        let waits = waits.iter().zip(&deadlock.waiting);
        let waits =
            waits.map(|(&wait, waiting)| self.wait(wait, &waiting.location)).collect::<Option<_>>()?;
        let ended = match &deadlock.ended {
            Some(ended) => {
                let (id, event) = self.at(ended.event)?;
                Some((self.names[event.thread.index()].clone()?, self.made[id.index()]))
            }
            None => None,
        };
        let ending = EndingDraft::Stuck(CircleDraft { ended, waits });
        self.draft(deadlock.fingerprint.as_ref(), before, ending)
    }

    /// To where memory is used after it has been given back.
    fn to_use(&self, violation: &PredictedViolation) -> Option<ScheduleDraft> {
        let (&used, before) = violation.witness.as_deref()?.split_last()?;
        let ending = EndingDraft::Used([self.access(violation.first.event)?, self.access(used)?]);
        self.draft(violation.fingerprint.as_ref(), before, ending)
    }

    fn draft(
        &self,
        fingerprint: Option<&String>,
        before: &[u32],
        ending: EndingDraft,
    ) -> Option<ScheduleDraft> {
        Some(ScheduleDraft {
            program: self.origin.program.to_string(),
            arguments: self.origin.arguments.to_vec(),
            seed: self.origin.seed,
            fingerprint: fingerprint.cloned(),
            turns: self.turns(before)?,
            ending,
        })
    }

    /// Where in the program's own code it is that a thread waits does not depend on how a library does that.
    fn wait(&self, number: u32, location: &str) -> Option<WaitDraft> {
        let (id, event) = self.at(number)?;
        let end_of = match event.op {
            Op::Join(child) => Some(self.names[child.index()].clone()?),
            _ => None,
        };
        Some(WaitDraft {
            thread: self.names[event.thread.index()].clone()?,
            held: self.made[id.index()].saturating_sub(1),
            end_of,
            place: location.to_string(),
        })
    }

    fn at(&self, number: u32) -> Option<(EventId, Event)> {
        let id = self.trace.id(number)?;
        Some((id, self.trace.event(id)))
    }

    fn place(&self, event: Event) -> String {
        self.trace.names().loc_text(event.loc).into_owned()
    }

    /// Which thread runs until which step. Consecutive events of a thread make one turn; events that are no steps make
    /// none.
    fn turns(&self, witness: &[u32]) -> Option<Vec<(String, u64, String)>> {
        let mut reached = vec![0; self.names.len()];
        let mut turns: Vec<(String, u64, String)> = Vec::new();
        for &number in witness {
            let (id, event) = self.at(number)?;
            let (thread, made) = (event.thread.index(), self.made[id.index()]);
            if made <= reached[thread] {
                continue;
            }
            reached[thread] = made;
            let name = self.names[thread].as_ref()?;
            let place = self.place(event);
            match turns.last_mut() {
                Some(turn) if turn.0 == *name => (turn.1, turn.2) = (made, place),
                _ => turns.push((name.clone(), made, place)),
            }
        }
        Some(turns)
    }

    fn access(&self, number: u32) -> Option<AccessDraft> {
        let (id, event) = self.at(number)?;
        let (name, step) = (self.names[event.thread.index()].clone()?, self.made[id.index()]);
        let kind = kind_of(self.trace, id)?;
        let held = if kind == RacingAction::Free { step } else { step.saturating_sub(1) };
        Some((name, held, step, kind, self.place(event)))
    }
}

/// What an access does. A free of memory that is still in use is a write of an unknown value; a write whose value
/// depends on the schedule has a term.
pub fn kind_of(trace: &Trace, id: EventId) -> Option<RacingAction> {
    let has_term = trace.values().is_some_and(|values| values.written(id).is_some());
    match trace.event(id).op {
        Op::Free(_) => Some(RacingAction::Free),
        Op::Write { value: None, .. } if !has_term => Some(RacingAction::Free),
        op if op.access()?.kind.writes() => Some(RacingAction::Write),
        _ => Some(RacingAction::Read),
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::format::text::TextReader;
    use foretell_witness::{Claim, Model, Proof, Referee};

    use super::*;

    /// Two threads that race with their last events, and what leads there.
    fn schedule_of(text: &'static str) -> Option<String> {
        let trace = Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
        let schedule: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        let &[.., first, second] = &schedule[..] else { panic!("two events race") };
        let proof = Proof::Adjacent { model: Model::ControlFlow, schedule };
        let finding = Referee::new(&trace).check(Claim { first, second, proof }).unwrap();
        let mut races = vec![Race::new(&finding, trace.names(), |id| trace.event(id))];
        let arguments = ["-n".to_string(), "7".to_string()];
        let origin = Origin { program: "./bank", arguments: &arguments, seed: 3 };
        Schedules::new(origin, false).add(&trace, &mut races, &mut [], &mut []);
        races.remove(0).schedule
    }

    const EVENTS: &str =
        "main|fork(T1)|1\nmain|fork(T2)|2\nT2|fork(T3)|3\nT1|branch|4\nT3|w(x,1)|5\nT1|w(x,2)|6\n";

    #[test]
    fn a_witness_is_a_schedule_of_steps() {
        let schedule = schedule_of(format!("{EVENTS}#steps 2 1*2 4 1 3\n").leak()).unwrap();
        let expected = "foretell schedule 1\nprogram ./bank\nargument -n\nargument 7\nseed 3\n\
            run main 3 2\nrun main.2 1 3\nrun main.1 4 4\nfirst main.2.1 0 1 write 5\nsecond main.1 6 7 write 6\n";
        assert_eq!(schedule, expected);
        assert_eq!(schedule_of(EVENTS), None, "without counts there is none");
    }

    #[test]
    fn threads_whose_start_was_not_seen_cannot_be_led() {
        assert_eq!(schedule_of("main|fork(T1)|1\nT1|w(x,1)|2\nT9|w(x,2)|3\n#steps 1*3\n"), None);
    }
}
