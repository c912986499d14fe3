//! What is on the screen: the rows, and the locks that are held along them.

use foretell_trace::{Event, EventId, Op, ThreadId};

use super::Browser;
use crate::threads::{Doing, OpenLock};

/// A piece of the line that stands for a held lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bar {
    /// The lock is taken here.
    Begin(OpenLock),
    /// It is held.
    Held(OpenLock),
    /// A repeated acquire, or the release of one.
    Again(OpenLock),
    /// It is released here.
    End(OpenLock),
}

/// A row of the screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// What happens.
    pub event: EventId,
    /// The locks of each lane on the screen, by slot; `None` as long as that is not known.
    pub locks: Option<Vec<Vec<Option<Bar>>>>,
}

impl Browser<'_> {
    /// The rows on the screen, and which of them is the current one.
    pub fn window(&self, lanes: &[ThreadId]) -> (Vec<Row>, usize) {
        let shown = self.top..self.top.saturating_add(self.layout().rows);
        let positions: Vec<usize> = shown.map_while(|row| self.rows.position(row)).collect();
        let events = positions.iter().filter_map(|&position| self.order().event(position));
        let mut rows: Vec<Row> = events.map(|event| Row { event, locks: None }).collect();
        let course = self.course();
        let mut next = rows.iter_mut();
        course.checkpoints.before(self.trace, &course.order, positions, |threads| {
            let Some(row) = next.next() else { return };
            let event = self.trace.event(row.event);
            let of_lane = |&thread: &ThreadId| {
                threads.doing(thread).map_or_else(
                    || bars(&Doing::default(), own(&event, thread), row.event),
                    |doing| bars(doing, own(&event, thread), row.event),
                )
            };
            row.locks = Some(lanes.iter().map(of_lane).collect());
        });
        (rows, self.cursor.saturating_sub(self.top))
    }
}

/// The event, if it is one of this thread.
fn own(event: &Event, thread: ThreadId) -> Option<&Event> {
    Some(event).filter(|event| event.thread == thread)
}

/// The pieces of lines in one lane, from what is held before the event.
fn bars(doing: &Doing, event: Option<&Event>, id: EventId) -> Vec<Option<Bar>> {
    let mut bars: Vec<Option<Bar>> = doing.slots().iter().map(|slot| slot.map(Bar::Held)).collect();
    let Some(op) = event.map(|event| event.op) else { return bars };
    let again = match op {
        Op::AcquireAgain(lock)
        | Op::ReleaseAgain(lock)
        | Op::AcquireSharedAgain(lock)
        | Op::ReleaseSharedAgain(lock) => Some(lock),
        _ => None,
    };
    for bar in bars.iter_mut().flatten() {
        if let Bar::Held(section) = *bar {
            if op.section_end() == Some((section.lock, section.mode)) {
                *bar = Bar::End(section);
            } else if again == Some(section.lock) {
                *bar = Bar::Again(section);
            }
        }
    }
    if let Some((lock, mode)) = op.section_begin() {
        let slot = doing.free_slot();
        bars.resize(bars.len().max(slot + 1), None);
        bars[slot] = Some(Bar::Begin(OpenLock { lock, mode, since: id }));
    }
    bars
}
