//! Looks at each state of a closure: for races, and for properties that do not hold.

use foretell_trace::Trace;

use crate::property::{Property, State};
use crate::run::Run;
use crate::system::{Observer, Sight, System as _, Undo};

/// What is looked for.
pub(crate) struct Checks<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) properties: &'a [Box<dyn Property + 'a>],
}

impl Observer<Run<'_>> for Checks<'_> {
    #[inline]
    fn look(&self, run: &Run<'_>, moved: Option<(usize, Undo)>, mut seen: impl FnMut(Sight)) {
        match moved {
            Some((thread, undo)) if !changes_others(run, undo) => races_of(run, thread, 0, &mut seen),
            _ => {
                for thread in 0..run.threads() {
                    races_of(run, thread, thread + 1, &mut seen);
                }
            }
        }
        for (number, property) in self.properties.iter().enumerate() {
            if !property.holds(&State { trace: self.trace, run }) {
                seen(Sight::Violation(number));
            }
        }
    }
}

/// Whether the step that was taken lets others race that have not moved.
#[inline]
fn changes_others(run: &Run<'_>, undo: Undo) -> bool {
    let step = run.step_at(undo.position);
    step.lift_count > 0 || step.access == crate::program::PackedAccess::CHANGES_OTHERS
}

/// Races of the thread with those from `first` on.
#[inline]
fn races_of(run: &Run<'_>, thread: usize, first: usize, seen: &mut impl FnMut(Sight)) {
    if !run.could_race(thread) {
        return;
    }
    let access = run.next(thread).access;
    for other in first..run.threads() {
        if access.conflicts_with(run.next(other).access) && other != thread && run.could_race(other) {
            let (a, b) = (run.position(thread), run.position(other));
            seen(Sight::Race(a.min(b), a.max(b)));
        }
    }
}
