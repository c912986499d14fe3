//! Untaken branches of a recorded program, as traces.
//!
//! [`foretell_symbolic`] executes the untaken side of a branch. Memory that only one thread accesses is not part of a
//! trace; but on an untaken branch a second thread may access it, and such races are wanted. So untaken branches are
//! executed twice: first to find the memory that they access, then with a trace that contains that memory. [`splice`]
//! makes a trace of an untaken branch and of what the other threads can still do.
//!
//! After Huang and Luo's RECIPE, which follows untaken branches whose effects it can model.

mod splice;

use foretell_depend::Detour;
use foretell_symbolic::{Limits, UntakenPath};
use foretell_trace::{Trace, TraceError};

use crate::LogError;
use crate::cells::{Survey, survey};
use crate::events::{Question, Ways, explore};
use crate::merge::Until;
use splice::Users;

/// All detours of the run behind a log, one after the other: each is made on demand. None if `may_continue` says that
/// there is no time left, or if the log is too large.
pub fn detours(
    log: &[u8],
    limits: &Limits,
    may_continue: &dyn Fn() -> bool,
) -> Result<Option<Detours>, LogError> {
    if !foretell_wire::log::is_begun(log) {
        return Err(LogError::Empty);
    }
    let (mut survey, passed) = survey(log, Until { may_continue, ..Until::END })?;
    if passed.unread.is_some() || survey.places.is_managed() || crate::dropped(log).is_some() {
        return Ok(None);
    }
    let Ways::Touches(touches) = ask(log, &mut survey, limits, true, may_continue)? else { return Ok(None) };
    for touch in touches {
        survey.imagine(touch.era, touch.thread, touch.part, touch.writes);
    }
    survey.sort();
    let Ways::Beside(found) = ask(log, &mut survey, limits, false, may_continue)? else { return Ok(None) };
    let (events, values, seeds) = *found;
    let trace = Trace::check(events)?.with_values(values).map_err(TraceError::from)?;
    let users = Users::of(&trace);
    Ok(Some(Detours { trace, users, seeds: seeds.into_iter() }))
}

/// Explores; with fences, if these turn out to be needed.
fn ask(
    log: &[u8],
    survey: &mut Survey,
    limits: &Limits,
    is_scouting: bool,
    may_continue: &dyn Fn() -> bool,
) -> Result<Ways, LogError> {
    let question = Question { limits, is_scouting, may_continue };
    match explore(log, survey, question)? {
        Ways::LacksFence => {
            survey.has_opaque = true;
            explore(log, survey, question)
        }
        ways => Ok(ways),
    }
}

/// See [`detours`].
pub struct Detours {
    /// The run as it was.
    trace: Trace,
    users: Users,
    seeds: std::vec::IntoIter<UntakenPath>,
}

impl Iterator for Detours {
    type Item = Result<Detour, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Detours { trace, users, seeds } = self;
        let seed = seeds.find(|seed| users.notice(seed))?;
        Some(splice::splice(trace, &seed))
    }
}
