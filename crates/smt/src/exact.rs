//! A formula that is satisfiable exactly for the races of the control-flow model.
//!
//! It differs from the published one in that a schedule is a prefix: the truth value `i7` says whether event 7 runs
//! before the two accesses, at which their threads have arrived. What does not run is not constrained, and what runs
//! is, whether it must run before the accesses or not: a section that another one follows has its release in the
//! schedule, and every branch in the schedule is feasible.
//!
//! **Guarantee:** equals exhaustive search (`tests/published.rs`).
//!
//! The order of events that do not run means nothing. It needs no guard: whatever must come before an event that runs
//! runs itself, so the others can always be put after everything else.

use crate::reads::Reads;
use crate::text::{FALSE, TRUE, Term, Text, all, any, before, implies, not};
use crate::window::{MutexSection, Window};

/// The formula that two accesses race.
pub fn text(window: &Window, (a, b): (usize, usize)) -> String {
    let question = Question { window, accesses: [a, b] };
    let mut text = Text::default();
    if window.must(a, b) || window.must(b, a) {
        text.demand(FALSE);
        return text.finish();
    }
    question.prefix(&mut text);
    question.locks(&mut text);
    question.control_flow(&mut text);
    text.finish()
}

struct Question<'w> {
    window: &'w Window,
    /// The two that are to be next.
    accesses: [usize; 2],
}

impl Question<'_> {
    /// The term for "this event runs".
    fn runs(&self, event: usize) -> Term {
        if self.accesses.iter().any(|&access| self.window.has_run(access, event)) {
            FALSE.to_string()
        } else if self.accesses.iter().any(|&access| self.window.has_run(event, access)) {
            TRUE.to_string()
        } else {
            format!("i{event}")
        }
    }

    /// What runs is closed under the must-order, and keeps to it.
    fn prefix(&self, text: &mut Text) {
        for event in 0..self.window.len() {
            let runs = self.runs(event);
            if runs != FALSE {
                text.declare_place(event);
            }
            if runs != FALSE && runs != TRUE {
                text.declare_truth(&runs);
            }
        }
        for &(earlier, later) in self.window.edges() {
            let runs = self.runs(later);
            if runs != FALSE {
                text.demand(&implies(&runs, self.runs(earlier)));
                text.demand(&before(earlier, later));
            }
        }
    }

    /// Of two sections that begin, one has ended before the other begins.
    fn locks(&self, text: &mut Text) {
        for (first, second) in self.window.rival_sections() {
            let (runs_first, runs_second) = (self.runs(first.acquire), self.runs(second.acquire));
            if runs_first == FALSE || runs_second == FALSE {
                continue;
            }
            let orders = [self.ends_before(first, second), self.ends_before(second, first)];
            let apart = any([not(&runs_first), not(&runs_second)].into_iter().chain(orders));
            text.demand(&apart);
        }
    }

    fn ends_before(&self, section: MutexSection, other: MutexSection) -> Term {
        match section.release.map(|release| (release, self.runs(release))) {
            Some((release, runs)) if runs != FALSE => all([runs, before(release, other.acquire)]),
            _ => FALSE.to_string(),
        }
    }

    /// Every branch that runs, and the accesses where they might hide one, is reached by reads that see what they saw.
    fn control_flow(&self, text: &mut Text) {
        let runs = |event| self.runs(event);
        let mut reads = Reads::new(self.window, &runs);
        let mut demands = Vec::new();
        for event in (0..self.window.len()).filter(|&event| self.window.depends_on_reads(event)) {
            let is_reached = if self.accesses.contains(&event) { TRUE.to_string() } else { runs(event) };
            if is_reached != FALSE {
                demands.push(implies(&is_reached, reads.before(event)));
            }
        }
        reads.write(text);
        demands.iter().for_each(|term| text.demand(term));
    }
}
