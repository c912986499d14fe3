//! How a schedule ends that leads into a deadlock: each thread of a circle attempts what it then waits for.

use super::{Lines, ScheduleProblem, escape, name, unescape};

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StuckOn<'a> {
    /// A lock.
    Lock,
    /// The end of the thread with this name.
    End(&'a str),
}

/// A thread that waits in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledWait<'a> {
    /// The thread, by descent.
    pub thread: &'a str,
    /// After how many steps it waits.
    pub held: u64,
    /// For what.
    pub on: StuckOn<'a>,
    /// Where.
    pub place: &'a str,
}

/// A circle of threads, each of which waits for the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledCircle<'a> {
    /// The thread that holds up the last one instead of the first: it ends with a lock, after so many steps.
    pub ended: Option<(&'a str, u64)>,
    /// The lines of those that wait.
    waits: &'a str,
}

impl<'a> ScheduledCircle<'a> {
    /// Those that wait, in the order of the circle.
    pub fn waits(&self) -> impl Iterator<Item = ScheduledWait<'a>> + Clone + use<'a> {
        let waits = self.waits;
        waits.split_terminator('\n').filter_map(|line| wait(line.strip_prefix("wait ")?))
    }

    /// The circle, if the next lines tell of one.
    pub(super) fn parse(lines: &mut Lines<'a>) -> Result<Option<ScheduledCircle<'a>>, ScheduleProblem> {
        const ENDED: &str = "`ended`, a thread such as main.1, and a number of steps";
        const WAIT: &str =
            "`wait`, a thread, after how many steps, `lock` or `end` with a thread, and a place";
        let problem = lines.problem(ENDED);
        let ended = lines.after("ended").map(|rest| ended(rest).ok_or(problem)).transpose()?;
        let waits = lines.all("wait", |rest| wait(rest).is_some(), WAIT)?;
        match (waits.is_empty(), ended) {
            (true, None) => Ok(None),
            (true, Some(_)) => Err(lines.problem(WAIT)),
            (false, _) => Ok(Some(ScheduledCircle { ended, waits })),
        }
    }
}

fn ended(rest: &str) -> Option<(&str, u64)> {
    let (thread, steps) = rest.split_once(' ')?;
    Some((name(thread)?, steps.parse().ok()?))
}

fn wait(rest: &str) -> Option<ScheduledWait<'_>> {
    let mut words = rest.splitn(4, ' ');
    let (thread, held) = (name(words.next()?)?, words.next()?.parse().ok()?);
    let (kind, rest) = (words.next()?, words.next()?);
    let (on, place) = match kind {
        "lock" => (StuckOn::Lock, rest),
        "end" => {
            let (other, place) = rest.split_once(' ')?;
            (StuckOn::End(name(other)?), place)
        }
        _ => return None,
    };
    Some(ScheduledWait { thread, held, on, place })
}

/// A thread that waits in the end, as it is being written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitDraft {
    /// The thread, by descent.
    pub thread: String,
    /// After how many steps it waits.
    pub held: u64,
    /// The thread for whose end it waits, if that is what it waits for, and not a lock.
    pub end_of: Option<String>,
    /// Where.
    pub place: String,
}

/// A circle of threads, as it is being written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CircleDraft {
    /// See [`ScheduledCircle::ended`].
    pub ended: Option<(String, u64)>,
    /// Those that wait, in the order of the circle.
    pub waits: Vec<WaitDraft>,
}

impl From<ScheduledCircle<'_>> for CircleDraft {
    fn from(circle: ScheduledCircle<'_>) -> CircleDraft {
        let wait = |wait: ScheduledWait<'_>| WaitDraft {
            thread: wait.thread.to_string(),
            held: wait.held,
            end_of: match wait.on {
                StuckOn::Lock => None,
                StuckOn::End(other) => Some(other.to_string()),
            },
            place: unescape(wait.place),
        };
        CircleDraft {
            ended: circle.ended.map(|(thread, steps)| (thread.to_string(), steps)),
            waits: circle.waits().map(wait).collect(),
        }
    }
}

impl std::fmt::Display for CircleDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((thread, steps)) = &self.ended {
            writeln!(f, "ended {thread} {steps}")?;
        }
        for WaitDraft { thread, held, end_of, place } in &self.waits {
            let on = end_of.as_ref().map_or_else(|| "lock".to_string(), |other| format!("end {other}"));
            writeln!(f, "wait {thread} {held} {on} {}", escape(place))?;
        }
        Ok(())
    }
}
