//! The formula of RVPredict, as its paper gives it (section 3.2).
//!
//! Paper: Huang, Meredith, Rosu: Maximal sound predictive race detection with control flow abstraction, PLDI 2014.
//!
//! Every event of the trace has a place in one order of the *whole* trace. The order keeps the must-order and the
//! mutual exclusion of all sections; the two accesses stand next to each other; and per thread the last branch that
//! must come before either of them is feasible: the reads before it see the values that they saw.
//!
//! **Changed:** nothing that matters. Where the paper speaks of initial writes there is an initial value. A section
//! without release (the paper has none) ends after the trace. Where no branch is shown, there may be one before any
//! event. Sources and interfering writes are left out where the must-order rules them out, as in the paper.
//!
//! **Guarantee:** none. The formula is satisfiable for some pairs that do not race: branches that must not come before
//! the accesses, but that a thread has to pass to make a source's fork, its join or a release happen, are not asked
//! about.
//!
//! **May miss:** races after which the locks that are held lead into a deadlock, since sections exclude each other
//! after the race, too.
//!
//! Each kind of difference has a test in `tests/published.rs`.

use crate::reads::Reads;
use crate::text::{TRUE, Text, any, before, place};
use crate::window::Window;

/// The formula that two accesses race.
pub fn text(window: &Window, (a, b): (usize, usize)) -> String {
    let mut text = Text::default();
    (0..window.len()).for_each(|event| text.declare_place(event));
    must_happen_before(window, &mut text);
    locks(window, &mut text);
    text.demand(&format!("(= (- {} {}) 1)", place(b), place(a)));
    control_flow(window, &[a, b], &mut text);
    text.finish()
}

fn must_happen_before(window: &Window, text: &mut Text) {
    for &(earlier, later) in window.edges() {
        text.demand(&before(earlier, later));
    }
}

fn locks(window: &Window, text: &mut Text) {
    for (first, second) in window.rival_sections() {
        let ends_before = |release: Option<usize>, acquire| release.map(|release| before(release, acquire));
        let orders = [ends_before(first.release, second.acquire), ends_before(second.release, first.acquire)];
        text.demand(&any(orders.into_iter().flatten()));
    }
}

fn control_flow(window: &Window, accesses: &[usize], text: &mut Text) {
    let all_run = |_| TRUE.to_string();
    let mut reads = Reads::new(window, &all_run);
    let deciding = accesses.iter().flat_map(|&access| window.deciding_events(access));
    let feasible: Vec<_> = deciding.map(|event| reads.before(event)).collect();
    reads.write(text);
    feasible.iter().for_each(|term| text.demand(term));
}
