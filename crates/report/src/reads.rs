//! Which reads on the way to a race matter, and what for, where the trace tells.
//!
//! A read matters if it steers something that happens before the race, or at it; or if what it sees goes into a value
//! that a read must see which matters. What others see is of no consequence, and they may see anything.

use foretell_trace::dependence::{Dependence, Part};
use foretell_trace::{EventId, ThreadId, Trace, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::observed::Deed;
use crate::replayed::{Recorded, Replay};

/// How many reads are shown at most.
const LISTED: usize = 100;

/// The reads on the way to a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NeededReads {
    /// Those that are shown, in the order of the witness.
    pub reads: Vec<NeededRead>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

/// One read, and what it is needed for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NeededRead {
    /// The read, as it was recorded.
    #[serde(flatten)]
    pub read: Deed,
    /// It sees something else here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strays: bool,
    /// What it is needed for.
    pub need: Need,
}

/// What a read is needed for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// It must see what it saw, as it decides whether this happens.
    Decides(Deed),
    /// It must see what it saw, as it is in what is written here.
    Passed {
        /// The write.
        on_by: Deed,
        /// The read that must see what is written.
        to: Deed,
    },
    /// For nothing here: this is the first that it decides, which comes after the race.
    DecidesLater(Deed),
    /// For nothing here: what it sees decides nothing, and goes nowhere that matters.
    Nothing,
}

impl Need {
    /// Whether the read must see what it saw.
    pub fn is_kept(&self) -> bool {
        matches!(self, Need::Decides(_) | Need::Passed { .. })
    }

    fn deeds_mut(&mut self) -> impl Iterator<Item = &mut Deed> {
        let deeds = match self {
            Need::Decides(deed) | Need::DecidesLater(deed) => [Some(deed), None],
            Need::Passed { on_by, to } => [Some(on_by), Some(to)],
            Need::Nothing => [None, None],
        };
        deeds.into_iter().flatten()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl NeededReads {
    /// The reads of a witness, which ends with the racing two. None where the trace does not tell what reads are good
    /// for, and where all of them see what they saw, so that the question does not arise.
    pub fn new(trace: &Trace, recorded: &Recorded, witness: &[u32]) -> Option<NeededReads> {
        let dependence = trace.dependence()?;
        let events: Option<Vec<EventId>> = witness.iter().map(|&number| trace.id(number)).collect();
        let events = events.filter(|events| events.len() >= 2)?;
        let run = Run::new(trace, recorded, &events);
        if !run.reads.iter().any(|read| read.strays) {
            return None;
        }
        let causes = run.causes(trace, dependence);
        let listed = run.listed();
        let more = run.reads.len() - listed.len();
        let reads = listed.into_iter().map(|read| NeededRead {
            read: Deed::new(trace, read.event),
            strays: read.strays,
            need: need(trace, dependence, causes.get(&read.event).copied(), read.event),
        });
        Some(NeededReads { reads: reads.collect(), more })
    }

    /// All that is shown of events.
    pub fn deeds_mut(&mut self) -> impl Iterator<Item = &mut Deed> {
        self.reads.iter_mut().flat_map(|read| std::iter::once(&mut read.read).chain(read.need.deeds_mut()))
    }
}

/// Why a read must see what it saw.
#[derive(Clone, Copy)]
enum Cause {
    Decides(EventId),
    Passed { on_by: EventId, to: EventId },
}

fn need(trace: &Trace, dependence: &Dependence, cause: Option<Cause>, read: EventId) -> Need {
    match cause {
        Some(Cause::Decides(event)) => Need::Decides(Deed::new(trace, event)),
        Some(Cause::Passed { on_by, to }) => {
            Need::Passed { on_by: Deed::new(trace, on_by), to: Deed::new(trace, to) }
        }
        None => match dependence.steered_by(read) {
            Some(later) => Need::DecidesLater(Deed::new(trace, later)),
            None => Need::Nothing,
        },
    }
}

/// What happens on the way to a race.
struct Run {
    /// The reads before the race, in the order of the witness.
    reads: Vec<Read>,
    /// The last event of each thread.
    last: FxHashMap<ThreadId, EventId>,
}

#[derive(Clone, Copy)]
struct Read {
    event: EventId,
    /// The write that it sees, if there is one.
    sees: Option<EventId>,
    strays: bool,
}

impl Run {
    fn new(trace: &Trace, recorded: &Recorded, events: &[EventId]) -> Run {
        let mut replay = Replay::new(trace, recorded);
        let mut writers: FxHashMap<VarId, EventId> = FxHashMap::default();
        let mut run = Run { reads: Vec::new(), last: FxHashMap::default() };
        for (at, &id) in events.iter().enumerate() {
            let event = trace.event(id);
            run.last.insert(event.thread, id);
            // What the racing two see does not matter.
            let Some(access) = event.op.access().filter(|_| at + 2 < events.len()) else { continue };
            replay.step(id, &event);
            if access.kind.reads() {
                let sees = writers.get(&access.var).copied();
                run.reads.push(Read { event: id, sees, strays: replay.has_strayed(id) });
            }
            if access.kind.writes() {
                writers.insert(access.var, id);
            }
        }
        run
    }

    /// Why each read that must see what it saw must do so.
    fn causes(&self, trace: &Trace, dependence: &Dependence) -> FxHashMap<EventId, Cause> {
        let sees: FxHashMap<EventId, Option<EventId>> =
            self.reads.iter().map(|read| (read.event, read.sees)).collect();
        let mut causes = FxHashMap::default();
        for read in &self.reads {
            let last = self.last.get(&trace.event(read.event).thread);
            if let Some(steered) = dependence.steered_by(read.event).filter(|event| Some(event) <= last) {
                causes.insert(read.event, Cause::Decides(steered));
            }
        }
        let mut open: Vec<EventId> = causes.keys().copied().collect();
        // The same reads are shown for the same reasons every time.
        open.sort_unstable();
        let mut parts = Parts::new(trace, dependence, &self.reads);
        while let Some(to) = open.pop() {
            let Some(on_by) = sees.get(&to).copied().flatten() else { continue };
            for read in parts.new_reads_in(on_by) {
                if sees.contains_key(&read) && !causes.contains_key(&read) {
                    causes.insert(read, Cause::Passed { on_by, to });
                    open.push(read);
                }
            }
        }
        causes
    }

    /// The reads that are shown: those that see something else, and then the others, as long as there is room.
    fn listed(&self) -> Vec<Read> {
        let mut order: Vec<(usize, Read)> = self.reads.iter().copied().enumerate().collect();
        order.sort_by_key(|(_, read)| !read.strays);
        order.truncate(LISTED);
        order.sort_by_key(|(at, _)| *at);
        order.into_iter().map(|(_, read)| read).collect()
    }
}

/// What writes are made of. Whatever was handed out once is not handed out again, so that all of it together is as
/// much work as the run is long.
struct Parts<'a> {
    trace: &'a Trace,
    dependence: &'a Dependence,
    /// The reads of each thread that were not handed out with everything before them, the first one last.
    left: FxHashMap<ThreadId, Vec<EventId>>,
    /// Sets that are made of two others, and were handed out.
    unions: FxHashSet<usize>,
}

impl<'a> Parts<'a> {
    fn new(trace: &'a Trace, dependence: &'a Dependence, reads: &[Read]) -> Parts<'a> {
        let mut left: FxHashMap<ThreadId, Vec<EventId>> = FxHashMap::default();
        for read in reads.iter().rev() {
            left.entry(trace.event(read.event).thread).or_default().push(read.event);
        }
        Parts { trace, dependence, left, unions: FxHashSet::default() }
    }

    /// The reads that are in what the event writes, but for those that were handed out before; in the order of the
    /// trace.
    fn new_reads_in(&mut self, write: EventId) -> Vec<EventId> {
        let (mut reads, mut open) = (Vec::new(), vec![self.dependence.value_of(write)]);
        while let Some(set) = open.pop() {
            match self.dependence.part(set) {
                Part::Nothing => {}
                Part::Everything => self.all_before(write, &mut reads),
                Part::Read(read) => reads.push(read),
                Part::Both(index, first, second) => {
                    if self.unions.insert(index) {
                        open.extend([first, second]);
                    }
                }
            }
        }
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    fn all_before(&mut self, write: EventId, reads: &mut Vec<EventId>) {
        let Some(left) = self.left.get_mut(&self.trace.event(write).thread) else { return };
        while let Some(read) = left.pop_if(|read| *read <= write) {
            reads.push(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::dependence::Reads;

    use super::*;

    fn id(number: u32) -> EventId {
        EventId::from_number(number).unwrap()
    }

    /// A hands on in y what it read from x, B decides on that; what B reads from u and A from v is not used before
    /// the race of z.
    fn trace() -> Trace {
        let text = "C|w(u,1)|1\nC|w(v,1)|2\nA|r(v,1)|3\nA|r(x,0)|4\nA|w(y,5)|5\nB|r(u,1)|6\nB|r(y,5)|7\nB|branch|8\n\
                    B|w(z,1)|9\nC|w(z,2)|10\nA|branch|11\n";
        let trace = foretell_testkit::trace(text);
        let mut dependence = Dependence::new(trace.events().len());
        dependence.steer(id(7), id(8));
        dependence.steer(id(3), id(11));
        dependence.set_value(id(5), Reads::of(id(4)));
        trace.with_dependence(dependence).unwrap()
    }

    fn listed(trace: &Trace, witness: &[u32]) -> Option<Vec<(u32, bool, String)>> {
        let reads = NeededReads::new(trace, &Recorded::new(trace), witness)?;
        let need = |need: &Need| match need {
            Need::Decides(deed) => format!("decides {}", deed.event),
            Need::Passed { on_by, to } => format!("passed on by {} to {}", on_by.event, to.event),
            Need::DecidesLater(deed) => format!("decides {} later", deed.event),
            Need::Nothing => "nothing".to_string(),
        };
        let listed = reads.reads.iter().map(|read| (read.read.event, read.strays, need(&read.need)));
        Some(listed.collect())
    }

    #[test]
    fn each_read_is_told_with_what_it_is_needed_for() {
        let expected = [
            (3, true, "decides 11 later"),
            (4, false, "passed on by 5 to 7"),
            (6, true, "nothing"),
            (7, false, "decides 8"),
        ];
        let expected = expected.map(|(event, strays, need)| (event, strays, need.to_string()));
        assert_eq!(listed(&trace(), &[3, 4, 5, 6, 7, 8, 1, 2, 9, 10]).unwrap(), expected);
    }

    #[test]
    fn nothing_is_told_where_all_reads_see_what_they_saw() {
        assert_eq!(listed(&trace(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), None);
        let silent = foretell_testkit::trace("A|w(x,1)|1\nB|r(x,1)|2\nB|w(y,1)|3\nA|w(y,2)|4\n");
        assert_eq!(listed(&silent, &[2, 1, 3, 4]), None, "the trace does not tell what reads are good for");
    }

    #[test]
    fn a_value_that_may_depend_on_anything_depends_on_all_earlier_reads() {
        let trace = trace();
        let mut dependence = trace.dependence().unwrap().clone();
        dependence.set_value(id(5), Reads::EVERYTHING);
        let trace = trace.with_dependence(dependence).unwrap();
        let listed = listed(&trace, &[2, 3, 4, 5, 6, 7, 8, 1, 9, 10]).unwrap();
        assert_eq!(listed[0], (3, false, "passed on by 5 to 7".to_string()));
    }

    /// As many reads and writes that may depend on anything as would take hours if each write looked at each read.
    #[test]
    fn long_runs_are_gone_through_once() {
        const ROUNDS: u32 = 200_000;
        let text = format!(
            "C|w(u,1)|1\n{}B|r(u,1)|2\nB|w(z,1)|3\nC|w(z,2)|4\n",
            "B|r(x,0)|5\nB|w(x,0)|6\n".repeat(200_000)
        );
        let trace = foretell_testkit::trace(&text);
        let mut dependence = Dependence::new(trace.events().len());
        (1..=ROUNDS).for_each(|round| dependence.steer(id(2 * round), id(2 * round + 1)));
        let trace = trace.with_dependence(dependence).unwrap();
        let witness: Vec<u32> = (2..2 * ROUNDS + 3).chain([1, 2 * ROUNDS + 3, 2 * ROUNDS + 4]).collect();
        let reads = NeededReads::new(&trace, &Recorded::new(&trace), &witness).unwrap();
        assert_eq!((reads.reads.len(), reads.more), (LISTED, ROUNDS as usize + 1 - LISTED));
    }

    #[test]
    fn of_many_reads_those_are_told_that_see_something_else() {
        let text = format!("C|w(u,1)|1\n{}B|r(u,1)|2\nB|w(z,1)|3\nC|w(z,2)|4\n", "B|r(x,0)|5\n".repeat(300));
        let trace = foretell_testkit::trace(&text);
        let dependence = Dependence::new(trace.events().len());
        let trace = trace.with_dependence(dependence).unwrap();
        let witness: Vec<u32> = (2..303).chain([1, 303, 304]).collect();
        let reads = NeededReads::new(&trace, &Recorded::new(&trace), &witness).unwrap();
        assert_eq!((reads.reads.len(), reads.more), (LISTED, 201));
        assert!(reads.reads.last().is_some_and(|read| read.strays && read.read.event == 302));
    }
}
