//! A certificate in words: what its axioms say of critical sections, reads and waits.

use foretell_solve::SearchLimits;
use foretell_trace::EventId;
use foretell_trace::words::words;

use super::assemble::CertificateStep;
use super::axiom::{Axiom, excludes, sources};
use super::minimal;
use crate::closure::ENTRY;
use crate::window::Window;

/// A screen has no room for more reasons.
const MOST_REASONS: usize = 16;
/// So many writes that a read may see are named.
const MOST_WRITES: usize = 3;

/// One reason each. What every run keeps, what only connects reasons, and what the others do without is left out.
pub(crate) fn reasons(
    window: &Window<'_>,
    steps: &[CertificateStep],
    limits: &SearchLimits<'_>,
) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for axiom in minimal::needed(window, steps, |axiom| reason(window, axiom).is_some(), limits) {
        reasons.extend(reason(window, axiom).filter(|reason| !reasons.contains(reason)));
    }
    let count = reasons.len();
    if count > MOST_REASONS {
        reasons.truncate(MOST_REASONS);
        reasons.push(format!("and {} more of this kind", count - MOST_REASONS));
    }
    let cases = steps.iter().filter(|step| matches!(step, CertificateStep::Clause(..))).count();
    reasons.push(format!(
        "no order of these events satisfies all of that: {cases} steps of a proof lead to a contradiction"
    ));
    reasons
}

fn reason(window: &Window<'_>, axiom: &Axiom) -> Option<String> {
    let event = |event: u32| event_words(window, event);
    Some(match *axiom {
        Axiom::Exclusion(one, other) => format!(
            "{} and {} begin critical sections of one lock: one of them ends before the other begins",
            event(one),
            event(other)
        ),
        Axiom::Choice { read, ref exclusions } => {
            let is_left =
                |source: &u32| !exclusions.iter().any(|&exclusion| excludes(window, exclusion, *source));
            let left: Vec<u32> = sources(window, read).into_iter().filter(is_left).collect();
            format!("{} must see the same again{}", event(read), sources_words(window, &left))
        }
        Axiom::Attempt(attempt) => format!("{} fails only while the lock is held", event(attempt)),
        Axiom::Free { access, free } => format!("{} runs before {} if both run", event(access), event(free)),
        Axiom::Permits { wait, .. } => format!("{} needs a permit that no other wait has taken", event(wait)),
        Axiom::Notified(woken) => format!("{} needs its only notification after the wait", event(woken)),
        Axiom::Wakeups { ref back, .. } => {
            let woken: Vec<String> = back.iter().take(MOST_WRITES).map(|&woken| event(woken)).collect();
            format!("a notification wakes one thread only: {}", woken.join("; "))
        }
        Axiom::Arrivals { depart, .. } => format!("{} needs enough arrivals", event(depart)),
        Axiom::Need(..) | Axiom::Prefix(..) | Axiom::Absent(_) | Axiom::Reached(_) | Axiom::Unexplained => {
            return None;
        }
        Axiom::Pin { .. } | Axiom::Pinned(_) | Axiom::Sees { .. } | Axiom::SourceRuns { .. } => return None,
        Axiom::Between { .. } | Axiom::Concrete { .. } | Axiom::HasBegun { .. } | Axiom::IsOpen { .. } => {
            return None;
        }
        Axiom::AfterWait { .. } | Axiom::BeforeReturn { .. } | Axiom::WakerRuns { .. } => return None,
    })
}

/// What a read may see.
fn sources_words(window: &Window<'_>, left: &[u32]) -> String {
    let name = |&source: &u32| match source {
        ENTRY => "the initial value".to_string(),
        source => event_words(window, source),
    };
    let named: Vec<String> = left.iter().take(MOST_WRITES).map(name).collect();
    match left.len() {
        0 => ", and no write of that is left".to_string(),
        count if count > MOST_WRITES => {
            format!(": {}, or one of {} others", named.join(", "), count - MOST_WRITES)
        }
        _ => format!(": {}", named.join(" or ")),
    }
}

/// An event with its number, thread and place.
pub(crate) fn event_words(window: &Window<'_>, event: u32) -> String {
    let (step, names) = (window.event(event), window.index.trace.names());
    let number = EventId::from_index((window.begin + event) as usize).map_or(0, EventId::number);
    let (thread, what) = (names.threads.name(step.thread), words(step.op, names));
    format!("event {number} ({thread} {what} at {})", names.loc_text(step.loc))
}
