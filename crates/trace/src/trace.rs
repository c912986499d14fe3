//! A whole trace in memory.

use rustc_hash::FxHashMap;

use crate::check::Checker;
use crate::dependence::{Dependence, Misfit, Reads};
use crate::error::TraceError;
use crate::event::{Event, Op};
use crate::id::{EventId, ThreadId};
use crate::name::Names;
use crate::source::{Batch, Ending, Listed, Source};
use crate::steps::Steps;
use crate::values::{Mismatch, Values};

/// A trace that has passed [`Checker`]: it is well formed, repeated acquires are marked as such, and reads that no
/// write explains are flagged.
#[derive(Debug, Default)]
pub struct Trace {
    events: Vec<Event>,
    names: Names,
    ending: Ending,
    has_branches: bool,
    dependence: Option<Dependence>,
    steps: Option<Steps>,
    values: Option<Values>,
}

impl Trace {
    /// Reads all of `source`, checking as it goes. A trace without any event is an error.
    pub fn read(mut source: Box<dyn Source + '_>) -> Result<Trace, TraceError> {
        let mut checker = Checker::default();
        let mut batch = Batch::default();
        let mut events = Vec::new();
        while source.fill(&mut batch)? {
            checker.check_batch(&mut batch, source.names())?;
            events.extend_from_slice(&batch.events);
        }
        checker.finish(source.ending())?;
        Trace::of_checked(events, &checker, source)
    }

    /// The trace of all events of `source`, which have been read and have passed the checker.
    pub fn of_checked(
        events: Vec<Event>,
        checker: &Checker,
        mut source: Box<dyn Source + '_>,
    ) -> Result<Trace, TraceError> {
        let (ending, has_branches) = (source.ending(), checker.has_branches());
        let (dependence, values, steps) = (source.dependence()?, source.values()?, source.steps());
        if let Some(dependence) = &dependence {
            dependence.check(&events).map_err(|misfit| source.blame(misfit))?;
        }
        if let Some(values) = &values {
            values.check(&events).map_err(|mismatch| source.blame_values(mismatch))?;
        }
        let trace = Trace { events, names: source.into_names(), ending, has_branches, ..Trace::default() };
        let trace = Trace { values, ..trace.stepping(steps) };
        Ok(match dependence {
            Some(dependence) => trace.knowing(dependence),
            None => trace,
        })
    }

    /// The trace of events that are in memory already. They are checked where they are: a long recording is not copied.
    pub fn check(mut listed: Listed) -> Result<Trace, TraceError> {
        let (ending, dependence, steps) = (listed.ending(), listed.dependence()?, listed.steps());
        let (events, names) = listed.into_parts();
        let mut checker = Checker::default();
        let mut batch = Batch { events, lines: Vec::new() };
        checker.check_batch(&mut batch, &names)?;
        checker.finish(ending)?;
        let has_branches = checker.has_branches();
        let trace = Trace { events: batch.events, names, ending, has_branches, ..Trace::default() };
        let trace = trace.stepping(steps);
        match dependence {
            Some(dependence) => Ok(trace.with_dependence(dependence)?),
            None => Ok(trace),
        }
    }

    /// Steps that are not those of just these events are of no use, and nothing depends on them.
    fn stepping(self, steps: Option<Steps>) -> Trace {
        let steps = steps.filter(|steps| steps.len() == self.events.len());
        Trace { steps, ..self }
    }

    /// All events in the order of the trace.
    #[inline]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The event with this id, which must be one of this trace.
    #[inline]
    pub fn event(&self, id: EventId) -> Event {
        self.events[id.index()]
    }

    /// The event with this number counted from 1, if the trace is that long.
    pub fn id(&self, number: u32) -> Option<EventId> {
        EventId::from_number(number).filter(|id| id.index() < self.events.len())
    }

    /// All events with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, Event)> {
        self.events
            .iter()
            .enumerate()
            .filter_map(|(index, &event)| Some((EventId::from_index(index)?, event)))
    }

    /// What the ids stand for.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// How many threads are named in the trace, also those without events.
    pub fn thread_count(&self) -> usize {
        self.names.threads.len()
    }

    /// The threads that are named in the trace.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        (0..self.thread_count()).filter_map(ThreadId::from_index)
    }

    /// How the recording ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether the trace shows branches. If not, every event is taken to depend on all earlier reads of its thread.
    pub fn has_branches(&self) -> bool {
        self.has_branches
    }

    /// How far threads have come at each event, as their recorder counts, if that is known.
    pub fn steps(&self) -> Option<&Steps> {
        self.steps.as_ref()
    }

    /// Which reads matter to what comes after them, if the recorder knows.
    pub fn dependence(&self) -> Option<&Dependence> {
        self.dependence.as_ref()
    }

    /// The same trace, of which that is not known, and so no more of how values are computed.
    pub fn without_dependence(self) -> Trace {
        Trace { dependence: None, values: None, ..self }
    }

    /// The same trace, of which it is not known how values are computed.
    pub fn without_values(self) -> Trace {
        Trace { values: None, ..self }
    }

    /// What values are computed from, if the recorder knows.
    pub fn values(&self) -> Option<&Values> {
        self.values.as_ref()
    }

    /// The same trace, of which that is known.
    pub fn with_values(self, values: Values) -> Result<Trace, Mismatch> {
        values.check(&self.events)?;
        Ok(Trace { values: Some(values), ..self })
    }

    /// The same trace, of which that is known. Where the trace shows branches, what a read decides is decided there: it
    /// steers nothing before the next one.
    pub fn with_dependence(self, dependence: Dependence) -> Result<Trace, Misfit> {
        dependence.check(&self.events)?;
        Ok(self.knowing(dependence))
    }

    /// The same for what is known to fit.
    fn knowing(mut self, mut dependence: Dependence) -> Trace {
        if self.has_branches {
            self.postpone(&mut dependence);
        }
        self.dependence = Some(dependence);
        self
    }

    /// Lets reads steer nothing before the next branch. Who knows that a read steers something need not say what else
    /// depends on it from there on. So what is written between the two then depends on everything.
    fn postpone(&self, dependence: &mut Dependence) {
        let branches = self.next_branches();
        // For each branch, or for the end of each thread, from where on the record may be incomplete.
        let mut doubts: FxHashMap<(ThreadId, Option<EventId>), EventId> = FxHashMap::default();
        for ((id, event), &branch) in self.iter().zip(&branches) {
            if let Some(steered) = dependence.steered_by(id)
                && branch.is_none_or(|branch| steered < branch)
            {
                dependence.postpone(id, branch);
                let doubt = doubts.entry((event.thread, branch)).or_insert(steered);
                *doubt = steered.min(*doubt);
            }
        }
        for ((id, event), &branch) in self.iter().zip(&branches) {
            if doubts.get(&(event.thread, branch)).is_some_and(|&doubt| doubt <= id) {
                dependence.set_value(id, Reads::EVERYTHING);
            }
        }
    }

    /// For each event, the next branch of its thread, which may be the event itself.
    fn next_branches(&self) -> Vec<Option<EventId>> {
        let mut next = vec![None; self.names.threads.len()];
        let mut branches = vec![None; self.events.len()];
        for (index, event) in self.events.iter().enumerate().rev() {
            let of_thread = &mut next[event.thread.index()];
            if event.op == Op::Branch {
                *of_thread = EventId::from_index(index);
            }
            branches[index] = *of_thread;
        }
        branches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::text::TextReader;
    use crate::source::read_all;

    #[test]
    fn events_in_memory_are_checked_as_those_that_are_read() {
        let text = "A|acq(l)|1\nA|acq(l)|2\nA|r(x,5)|3\nA|branch|4\nB|w(x,1)|5\nA|r(x,7)|6\n";
        let source = || Box::new(TextReader::new(Box::new(text.as_bytes())));
        let (events, names) = read_all(source()).unwrap();
        let checked = Trace::check(Listed::new(events.clone(), names, Ending::CutShort)).unwrap();
        assert_ne!(checked.events(), events, "acquires are marked, and the last read is not explained");
        assert_eq!(checked.events(), Trace::read(source()).unwrap().events());
        assert_eq!((checked.ending(), checked.has_branches()), (Ending::CutShort, true));
        assert!(Trace::check(Listed::new(vec![], Names::default(), Ending::Complete)).is_err());
    }

    #[test]
    fn what_is_decided_is_decided_at_branches() {
        let text = "A|r(x,1)|1\nA|w(a,1)|2\nA|r(i,0)|3\nA|w(b,1)|4\nA|branch|5\nA|w(c,1)|6\nA|r(y,0)|7\nA|w(d,0)|8\n\
            #dependence\n#steers 1 3\n#steers 7 8\n#value 2 1\n#value 4 -\n#value 6 -\n#value 8 -\n";
        let trace = Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
        let dependence = trace.dependence().unwrap();
        let id = |number| EventId::from_number(number).unwrap();
        assert_eq!(dependence.steered_by(id(1)), Some(id(5)), "not before the branch");
        assert_eq!(dependence.steered_by(id(7)), None, "there is no branch any more");
        let values = [2, 4, 6, 8].map(|number| dependence.value_of(id(number)));
        let all = Reads::EVERYTHING;
        assert_eq!(
            values,
            [Reads::of(id(1)), all, Reads::NOTHING, all],
            "from where it was said to steer on"
        );
    }
}
