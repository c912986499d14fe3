//! Whether a program that was driven into a deadlock is in it: its recording shows who holds what.

use foretell_engine::witness_schedule::descents;
use foretell_report::surroundings::Held;
use foretell_report::{Confirmation, Deadlock, WaitingThread, Walk};
use foretell_trace::{Event, LockMode, Op, ThreadId, Trace};
use foretell_wire::schedule::{CircleDraft, WaitDraft};

/// Looks in what the program has recorded whether each thread of the circle waits for the next. That a thread waits for
/// the end of another one is what the recorder has seen; the trace does not show it.
pub(super) fn confirm(trace: &Trace, circle: &CircleDraft) -> Confirmation {
    match Recorded::new(trace).circle(circle) {
        Ok(waiting) => Confirmation::stuck(waiting),
        Err(why) => Confirmation::not(why),
    }
}

struct Recorded<'a> {
    trace: &'a Trace,
    names: Vec<Option<String>>,
    /// What each thread holds in the end.
    held: Vec<Vec<Held>>,
    /// The last event of each thread.
    last: Vec<Option<Event>>,
    /// The threads as people know them.
    waiting: Vec<WaitingThread>,
}

impl Recorded<'_> {
    fn new(trace: &Trace) -> Recorded<'_> {
        let mut last = vec![None; trace.thread_count()];
        for &event in trace.events() {
            last[event.thread.index()] = Some(event);
        }
        Recorded {
            trace,
            names: descents(trace),
            held: Walk::at_end(trace.events()).into_iter().map(|around| around.locks).collect(),
            last,
            waiting: Deadlock::at_end_of(trace, 0, 0).waiting,
        }
    }

    fn circle(&self, circle: &CircleDraft) -> Result<Vec<WaitingThread>, String> {
        let first = circle.waits.first().map(|wait| &wait.thread);
        let after_last = circle.ended.as_ref().map(|ended| &ended.0).or(first);
        if let Some((ended, _)) = &circle.ended
            && !matches!(self.last[self.thread(ended)?.index()], Some(Event { op: Op::End, .. }))
        {
            return Err(format!("{ended} has not ended"));
        }
        let next = circle.waits.iter().skip(1).map(|wait| &wait.thread).chain(after_last);
        circle.waits.iter().zip(next).map(|(wait, next)| self.waits_for(wait, next)).collect()
    }

    fn thread(&self, name: &str) -> Result<ThreadId, String> {
        let is_it = |thread: &ThreadId| self.names[thread.index()].as_deref() == Some(name);
        self.trace.threads().find(is_it).ok_or_else(|| format!("nothing was recorded of {name}"))
    }

    /// The thread as it waits, if the next one holds it up.
    fn waits_for(&self, wait: &WaitDraft, next: &str) -> Result<WaitingThread, String> {
        let (thread, holder) = (self.thread(&wait.thread)?, self.thread(next)?);
        let names = self.trace.names();
        let known_as = names.threads.name(thread);
        let waiting = self.waiting.iter().find(|waiting| waiting.thread == known_as);
        let waiting = waiting.cloned().ok_or_else(|| format!("{} has ended", wait.thread))?;
        let held_by = Some(names.threads.name(holder).to_string());
        if let Some(child) = &wait.end_of {
            if child != next {
                return Err(format!("{} waits for the end of {child}, not of {next}", wait.thread));
            }
            let (waits_for, location) =
                (format!("the end of {}", names.threads.name(holder)), wait.place.clone());
            return Ok(WaitingThread { waits_for, held_by, location, ..waiting });
        }
        let (lock, mode) = match self.last[thread.index()].map(|event| event.op) {
            Some(Op::TryAcquireFailed(lock)) => (lock, LockMode::Exclusive),
            Some(Op::TryAcquireSharedFailed(lock)) => (lock, LockMode::Shared),
            _ => {
                return Err(format!(
                    "{} waits, but its recording shows no lock that it waits for",
                    wait.thread
                ));
            }
        };
        if waiting.location != wait.place {
            let WaitDraft { thread, place: expected, .. } = wait;
            let place = &waiting.location;
            return Err(format!(
                "{thread} waits at {place}, not at {expected}: the program was changed since it was recorded"
            ));
        }
        let holds = |held: &Held| held.lock == lock && held.mode.excludes(mode);
        if !self.held.get(holder.index()).is_some_and(|locks| locks.iter().any(holds)) {
            return Err(format!("{} waits, but {next} does not hold what it waits for", wait.thread));
        }
        Ok(WaitingThread { held_by, ..waiting })
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::format::text::TextReader;

    use super::*;

    const BOTH: &str =
        "main|fork(a)|1\nmain|fork(b)|2\na|acq(l)|3\nb|acq(m)|4\na|tryfail(m)|5\nb|tryfail(l)|6\n";

    /// What is said of a run after which two threads should wait for locks, at places 5 and 6.
    fn judged(events: &str, ended: Option<&str>) -> Result<Vec<String>, String> {
        let trace =
            Trace::read(Box::new(TextReader::new(Box::new(std::io::Cursor::new(events.to_string())))));
        let wait = |thread: &str, place: &str| WaitDraft {
            thread: thread.to_string(),
            held: 1,
            end_of: None,
            place: place.to_string(),
        };
        let mut waits = vec![wait("main.1", "5"), wait("main.2", "6")];
        waits.truncate(if ended.is_some() { 1 } else { 2 });
        let circle = CircleDraft { ended: ended.map(|ended| (ended.to_string(), 1)), waits };
        let confirmation = confirm(&trace.unwrap(), &circle);
        let words = confirmation.waiting.iter();
        let words = words.map(|it| format!("{} for {} by {:?}", it.thread, it.waits_for, it.held_by));
        if confirmation.confirmed { Ok(words.collect()) } else { Err(confirmation.why.unwrap_or_default()) }
    }

    #[test]
    fn threads_that_hold_each_other_up_are_in_the_deadlock() {
        let expected = ["a for lock m by Some(\"b\")", "b for lock l by Some(\"a\")"];
        assert_eq!(judged(BOTH, None), Ok(expected.map(String::from).to_vec()));
        let ended = BOTH.replace("b|tryfail(l)|6", "b|end|6");
        let expected = ["a for lock m by Some(\"b\")".to_string()];
        assert_eq!(judged(&ended, Some("main.2")), Ok(expected.to_vec()));
    }

    #[test]
    fn what_the_recording_does_not_show_is_not_confirmed() {
        for (why, from, to, ended) in [
            ("shows no lock", "b|tryfail(l)|6", "b|acq(n)|6", None),
            ("does not hold", "b|acq(m)|4", "main|acq(m)|4", None),
            ("was changed since", "b|tryfail(l)|6", "b|tryfail(l)|7", None),
            ("nothing was recorded", "main|fork(b)|2\n", "main|r(x)|2\n", None),
            ("has not ended", "b|tryfail(l)|6", "b|rel(m)|6", Some("main.2")),
            (
                "does not hold",
                "b|acq(m)|4\na|tryfail(m)|5\nb|tryfail(l)|6",
                "main|acq(m)|4\na|tryfail(m)|5\nb|end|6",
                Some("main.2"),
            ),
        ] {
            let found = judged(&BOTH.replace(from, to), ended).expect_err(to);
            assert!(found.contains(why), "{to}: {found}");
        }
    }
}
