//! The steps of a certificate: of which kinds they are, and what each kind is made of.

use super::conditions::Waking;
use super::facts::TraceFacts;
use super::goal::Question;
use super::literal::Literal;
use super::reads::Exclusion;
use super::{barriers, conditions, goal, locks, memory, order, reads, semaphores};

/// A step that was read, its axiom checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An axiom, or that a cycle is none: a clause that holds.
    Holds(Vec<Literal>),
    /// A clause that follows from these steps.
    Follows(Vec<Literal>, Vec<u32>),
    /// Steps that are no longer used.
    Dropped(Vec<u32>),
}

/// What a line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Clause,
    Drop,
    Cycle,
    Need,
    Prefix,
    Absent,
    Reached,
    Unexplained,
    Pin,
    Pinned,
    Choice,
    Sees,
    Source,
    Between,
    Concrete,
    Exclusion,
    Attempt,
    Begun,
    Open,
    Free,
    Permits,
    Notified,
    Wakeups,
    AfterWait,
    BeforeReturn,
    Waker,
    Arrivals,
}

/// Each kind with its word; its code in the binary form is its place, from 1.
pub(super) const KINDS: [(Kind, &str); 27] = [
    (Kind::Clause, "clause"),
    (Kind::Drop, "drop"),
    (Kind::Cycle, "cycle"),
    (Kind::Need, "need"),
    (Kind::Prefix, "prefix"),
    (Kind::Absent, "absent"),
    (Kind::Reached, "reached"),
    (Kind::Unexplained, "unexplained"),
    (Kind::Pin, "pin"),
    (Kind::Pinned, "pinned"),
    (Kind::Choice, "choice"),
    (Kind::Sees, "sees"),
    (Kind::Source, "source"),
    (Kind::Between, "between"),
    (Kind::Concrete, "concrete"),
    (Kind::Exclusion, "exclusion"),
    (Kind::Attempt, "attempt"),
    (Kind::Begun, "begun"),
    (Kind::Open, "open"),
    (Kind::Free, "free"),
    (Kind::Permits, "permits"),
    (Kind::Notified, "notified"),
    (Kind::Wakeups, "wakeups"),
    (Kind::AfterWait, "after-wait"),
    (Kind::BeforeReturn, "before-return"),
    (Kind::Waker, "waker"),
    (Kind::Arrivals, "arrivals"),
];

impl Kind {
    pub(super) fn of_name(name: &str) -> Option<Kind> {
        KINDS.into_iter().find(|&(_, word)| word == name).map(|(kind, _)| kind)
    }

    pub(super) fn of_code(code: u8) -> Option<Kind> {
        KINDS.get(usize::from(code).checked_sub(1)?).map(|&(kind, _)| kind)
    }
}

/// How writes are excluded from a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExclusionKind {
    Later,
    Absent,
    Overwritten,
    Initial,
}

/// Each of them with its word; its code in the binary form is its place, from 1.
pub(super) const EXCLUSIONS: [(ExclusionKind, &str); 4] = [
    (ExclusionKind::Later, "later"),
    (ExclusionKind::Absent, "absent"),
    (ExclusionKind::Overwritten, "overwritten"),
    (ExclusionKind::Initial, "initial"),
];

/// What stands on a line after its kind, in whichever form.
pub(super) trait Fields {
    /// The next event, by its index.
    fn event(&mut self) -> Result<u32, String>;
    /// The next write, or what was there at first.
    fn write(&mut self) -> Result<u32, String>;
    /// Whether a list ends here: at this word, which is skipped, or if there is none, at the end of the line.
    fn ends(&mut self, word: Option<&str>) -> Result<bool, String>;
    fn literal(&mut self) -> Result<Literal, String>;
    fn exclusion(&mut self) -> Result<ExclusionKind, String>;
    /// The number of a step. The present one, or the next clause, has the number `present`.
    fn step(&mut self, present: u32) -> Result<u32, String>;
    /// Nothing must be left.
    fn end(&mut self) -> Result<(), String>;
}

fn events(fields: &mut impl Fields, until: Option<&str>) -> Result<Vec<u32>, String> {
    let mut events = Vec::new();
    while !fields.ends(until)? {
        events.push(fields.event()?);
    }
    Ok(events)
}

fn steps(fields: &mut impl Fields, present: u32) -> Result<Vec<u32>, String> {
    let mut steps = Vec::new();
    while !fields.ends(None)? {
        steps.push(fields.step(present)?);
    }
    Ok(steps)
}

fn exclusions(fields: &mut impl Fields) -> Result<Vec<Exclusion>, String> {
    let mut exclusions = Vec::new();
    while !fields.ends(None)? {
        exclusions.push(match fields.exclusion()? {
            ExclusionKind::Later => Exclusion::Later(fields.event()?),
            ExclusionKind::Absent => Exclusion::Absent(fields.event()?),
            ExclusionKind::Overwritten => Exclusion::Overwritten(fields.event()?, fields.event()?),
            ExclusionKind::Initial => Exclusion::NotInitial(fields.event()?),
        });
    }
    Ok(exclusions)
}

/// Reads a step of this kind, which is number `present`, and checks the condition of its axiom.
pub(super) fn read(
    kind: Kind,
    fields: &mut impl Fields,
    facts: &TraceFacts<'_>,
    question: &Question,
    present: u32,
) -> Result<Step, String> {
    match kind {
        Kind::Clause => {
            let mut literals = Vec::new();
            while !fields.ends(Some("by"))? {
                literals.push(fields.literal()?);
            }
            Ok(Step::Follows(literals, steps(fields, present)?))
        }
        Kind::Drop => Ok(Step::Dropped(steps(fields, present)?)),
        axiom => Ok(Step::Holds(stated(axiom, fields, facts, question)?)),
    }
}

/// The clause of an axiom.
fn stated(
    axiom: Kind,
    fields: &mut impl Fields,
    facts: &TraceFacts<'_>,
    question: &Question,
) -> Result<Vec<Literal>, String> {
    match axiom {
        Kind::Clause | Kind::Drop => Err("this is no axiom".to_string()),
        Kind::Cycle => {
            let events = events(fields, None)?;
            let (pairs, []) = events.as_chunks() else { return Err("a cycle is made of pairs".to_string()) };
            let pairs: Vec<(u32, u32)> = pairs.iter().map(|&[from, to]| (from, to)).collect();
            order::cycle(facts, &pairs)
        }
        Kind::Need => order::need(facts, fields.event()?, fields.event()?),
        Kind::Prefix => order::prefix(facts, fields.event()?, fields.event()?),
        Kind::Absent => goal::absent(facts, question, fields.event()?),
        Kind::Reached => goal::reached(facts, question, fields.event()?),
        Kind::Unexplained => goal::unexplained(facts, question),
        Kind::Pin => reads::pin(facts, question, fields.event()?, fields.event()?),
        Kind::Pinned => reads::pinned(facts, question, fields.event()?),
        Kind::Choice => {
            let (read, exclusions) = (fields.event()?, exclusions(fields)?);
            reads::choice(facts, question, read, &exclusions)
        }
        Kind::Sees => reads::sees(facts, fields.event()?, fields.write()?),
        Kind::Source => reads::source_runs(facts, fields.event()?, fields.write()?),
        Kind::Between => reads::between(facts, fields.event()?, fields.write()?, fields.event()?),
        Kind::Concrete => reads::concrete(facts, question, fields.event()?, fields.write()?, fields.event()?),
        Kind::Exclusion => locks::exclusion(facts, fields.event()?, fields.event()?),
        Kind::Attempt => locks::attempt(facts, fields.event()?),
        Kind::Begun => locks::has_begun(facts, fields.event()?, fields.event()?),
        Kind::Open => locks::is_open(facts, fields.event()?, fields.event()?),
        Kind::Free => memory::free(facts, fields.event()?, fields.event()?),
        Kind::Permits => {
            let wait = fields.event()?;
            semaphores::permits(facts, wait, &events(fields, Some("posts"))?, &events(fields, None)?)
        }
        Kind::Notified => conditions::notified(facts, fields.event()?),
        Kind::Wakeups => conditions::wakeups(facts, &events(fields, Some("by"))?, &events(fields, None)?),
        Kind::AfterWait => conditions::wakes(facts, fields.event()?, fields.event()?, Waking::AfterWait),
        Kind::BeforeReturn => {
            conditions::wakes(facts, fields.event()?, fields.event()?, Waking::BeforeReturn)
        }
        Kind::Waker => conditions::wakes(facts, fields.event()?, fields.event()?, Waking::Runs),
        Kind::Arrivals => {
            let depart = fields.event()?;
            barriers::arrivals(facts, depart, &events(fields, Some("of"))?, &events(fields, None)?)
        }
    }
}
