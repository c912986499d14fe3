//! What a search learns from demands that do not hold in a schedule.
//!
//! A demand is about a value, and that is due to some reads and the writes that they see: one of them has to see
//! another write, or the event that demands it does not run. Of such reads the solver has to say which write they see,
//! whatever that is.

use foretell_solve::Lit;
use foretell_trace::values::Demand;

use super::{EncodedSearch, FIRST_SOURCES, Read};
use crate::values::{Computed, Sight, blame};

/// So many demands that do not hold are learnt from at a time: the later ones are less likely to matter.
const MOST_AT_ONCE: usize = 4;
/// So many path constraints that do not hold are learnt from as they are; then the SMT solver is asked, which computes
/// with all that reads may see.
const PLAIN: u64 = 256;

impl EncodedSearch<'_> {
    /// Runs the schedule with its values, and learns from what goes wrong.
    pub(super) fn learn_demands(&mut self, schedule: &[u32]) {
        let Some(values) = self.window.values() else { return };
        let mut computed = Computed::new(self.window, values);
        let mut deviated = vec![false; self.window.threads.len()];
        let mut broken = Vec::new();
        for &event in schedule {
            let thread = self.window.thread[event as usize] as usize;
            if let Some(demand) = computed.step(event)
                && !std::mem::replace(&mut deviated[thread], true)
                && broken.len() < MOST_AT_ONCE
            {
                broken.push((Some(event), self.reasons(&computed, demand)));
            }
        }
        for &event in &self.window.next {
            let thread = self.window.thread[event as usize] as usize;
            if !deviated[thread]
                && let Some(demand) = computed.keeps_from_coming_next(event)
            {
                broken.push((None, self.reasons(&computed, demand)));
            }
        }
        self.keep_views(&computed);
        for (event, reasons) in broken {
            self.learn_demand(event, &reasons);
        }
    }

    /// The sights because of which a demand does not hold: all that its value is due to, or, once that has not led
    /// anywhere for a while, what of that is to blame.
    fn reasons(&mut self, computed: &Computed<'_>, demand: Demand) -> Vec<Sight> {
        let reasons = computed.reasons(demand);
        self.refuted += 1;
        if self.refuted <= PLAIN || reasons.len() < 2 {
            return reasons;
        }
        blame(computed, self.closure, self.arithmetic, demand, &reasons).unwrap_or(reasons)
    }

    /// Where a read sees something else than the solver says, something came in between.
    fn keep_views(&mut self, computed: &Computed<'_>) {
        let mut reads: Vec<u32> = self.views.keys().copied().collect();
        reads.sort_unstable();
        for read in reads {
            let Some(writer) = computed.source(read) else { continue };
            let Some(mut view) = self.views.remove(&read) else { continue };
            let chosen = view.sources.iter().find(|(_, literal)| self.solver.value(*literal)).copied();
            match chosen {
                None if self.solver.value(view.sees_other) => {
                    (self.violated, self.learnt) = (true, true);
                    let count = 2 * view.sources.len();
                    self.widen(read, &mut view, count);
                }
                Some((source, literal)) if source != writer => {
                    self.state_between(read, source, literal, writer);
                }
                _ => {}
            }
            self.views.insert(read, view);
        }
    }

    /// Because of what these reads see, a demand of the event, or of one that is to come next, does not hold.
    fn learn_demand(&mut self, event: Option<u32>, reasons: &[Sight]) {
        (self.violated, self.learnt) = (true, true);
        let mut clause: Vec<Lit> = Vec::with_capacity(reasons.len() + 1);
        clause.extend(event.map(|event| !self.runs(event)));
        for &Sight { read, write } in reasons {
            clause.push(!self.sees(read, write));
        }
        // There are no certificates about values.
        self.solver.clause(&clause);
    }

    /// The boolean for "the read sees this write".
    fn sees(&mut self, read: u32, write: u32) -> Lit {
        let mut view = match self.views.remove(&read) {
            Some(view) => view,
            None => self.view(read),
        };
        let known = |view: &Read| view.sources.iter().find(|(source, _)| *source == write).map(|of| of.1);
        if known(&view).is_none() {
            // What it does see comes next.
            if let Some(place) = view.others.iter().position(|&other| other == write) {
                let source = view.others.remove(place);
                view.others.push(source);
            }
            self.widen(read, &mut view, 1);
        }
        // A write that the closure has ruled out for the read cannot be seen by it.
        let sees = known(&view).unwrap_or(Lit::FALSE);
        self.views.insert(read, view);
        sees
    }

    /// A read of which the solver has to say what it sees, if it runs.
    fn view(&mut self, read: u32) -> Read {
        let runs = self.runs(read);
        let mut others = self.closure.all_sources(read);
        others.reverse();
        let mut view = Read { bound: runs, sources: Vec::new(), others, sees_other: runs };
        self.widen(read, &mut view, FIRST_SOURCES);
        view
    }
}
