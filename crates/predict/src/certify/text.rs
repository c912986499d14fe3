//! The text of a certificate.

use std::fmt::Write as _;

use super::assemble::CertificateStep;
use super::axiom::{Atom, Axiom, Exclusion, Literal, number};
use crate::closure::ENTRY;
use crate::window::Window;

/// The whole text. Steps that are not needed any more are dropped after their last use.
pub(crate) fn text(window: &Window<'_>, steps: &[CertificateStep]) -> String {
    let mut text = String::from("foretell-proof 1\n");
    let pair: Vec<u32> = window.next.iter().map(|&event| number(event)).collect();
    // Writing into a string cannot fail.
    let _ = writeln!(text, "model {}\nevents {}", window.model.name(), window.len());
    line(&mut text, "pair", &pair);
    let mut last_use = vec![None; steps.len()];
    for (index, step) in steps.iter().enumerate() {
        if let CertificateStep::Clause(_, hints) = step {
            hints.iter().for_each(|&hint| last_use[hint as usize] = Some(index));
        }
    }
    for (index, step) in steps.iter().enumerate() {
        match step {
            CertificateStep::Axiom(stated) => axiom(&mut text, stated),
            CertificateStep::Cycle(pairs) => {
                let events: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [number(a), number(b)]).collect();
                line(&mut text, "cycle", &events);
            }
            CertificateStep::Clause(literals, hints) => {
                clause(&mut text, literals, hints);
                let is_last = index + 1 == steps.len();
                let done: Vec<u32> = hints
                    .iter()
                    .filter(|&&hint| last_use[hint as usize] == Some(index))
                    .map(|&hint| hint + 1)
                    .collect();
                if !is_last && !done.is_empty() {
                    line(&mut text, "drop", &done);
                }
            }
        }
    }
    text
}

fn line(text: &mut String, word: &str, numbers: &[u32]) {
    text.push_str(word);
    for number in numbers {
        let _ = write!(text, " {number}");
    }
    text.push('\n');
}

fn clause(text: &mut String, literals: &[Literal], hints: &[u32]) {
    text.push_str("clause");
    for literal in literals {
        let _ = write!(text, " {}", literal_text(*literal));
    }
    text.push_str(" by");
    for hint in hints {
        let _ = write!(text, " {}", hint + 1);
    }
    text.push('\n');
}

fn literal_text(literal: Literal) -> String {
    if let Some((from, to)) = literal.ordered() {
        return format!("{}<{}", number(from), number(to));
    }
    let sign = if literal.positive { "" } else { "-" };
    match literal.atom {
        Atom::Runs(event) => format!("{sign}R{}", number(event)),
        Atom::Consistent(read) => format!("{sign}C{}", number(read)),
        Atom::Sees(read, write) => format!("{sign}S{},{}", number(read), source(write)),
        Atom::Finds(attempt, begin) => format!("{sign}F{},{}", number(attempt), number(begin)),
        Atom::Wakes(notification, woken) => format!("{sign}W{},{}", number(notification), number(woken)),
        Atom::Before(from, to) => format!("{}<{}", number(from), number(to)),
    }
}

/// The number of a write, or 0 for what was there at first.
fn source(write: u32) -> u32 {
    if write == ENTRY { 0 } else { number(write) }
}

fn axiom(text: &mut String, axiom: &Axiom) {
    let numbers = |events: &[u32]| events.iter().map(|&event| number(event)).collect::<Vec<_>>();
    let list = |events: &[u32]| events.iter().map(|&event| format!(" {}", number(event))).collect::<String>();
    let mut plain = |word: &str, events: &[u32]| line(text, word, &numbers(events));
    match *axiom {
        Axiom::Need(from, to) => plain("need", &[from, to]),
        Axiom::Prefix(from, to) => plain("prefix", &[from, to]),
        Axiom::Absent(event) => plain("absent", &[event]),
        Axiom::Reached(event) => plain("reached", &[event]),
        Axiom::Unexplained => plain("unexplained", &[]),
        Axiom::Pin { event, read } => plain("pin", &[event, read]),
        Axiom::Pinned(read) => plain("pinned", &[read]),
        Axiom::Choice { read, ref exclusions } => {
            let excluded: String = exclusions.iter().map(|&exclusion| exclusion_text(exclusion)).collect();
            let _ = writeln!(text, "choice {}{excluded}", number(read));
        }
        Axiom::Sees { read, write } => line(text, "sees", &[number(read), source(write)]),
        Axiom::SourceRuns { read, write } => line(text, "source", &[number(read), source(write)]),
        Axiom::Between { read, write, other } => {
            line(text, "between", &[number(read), source(write), number(other)]);
        }
        Axiom::Concrete { read, write, other } => {
            line(text, "concrete", &[number(read), source(write), number(other)]);
        }
        Axiom::Exclusion(one, other) => plain("exclusion", &[one, other]),
        Axiom::Attempt(attempt) => plain("attempt", &[attempt]),
        Axiom::HasBegun { attempt, begin } => plain("begun", &[attempt, begin]),
        Axiom::IsOpen { attempt, begin } => plain("open", &[attempt, begin]),
        Axiom::Free { access, free } => plain("free", &[access, free]),
        Axiom::Permits { wait, ref waits, ref posts } => {
            let _ = writeln!(text, "permits {}{} posts{}", number(wait), list(waits), list(posts));
        }
        Axiom::Notified(woken) => plain("notified", &[woken]),
        Axiom::Wakeups { ref back, ref shared } => {
            let _ = writeln!(text, "wakeups{} by{}", list(back), list(shared));
        }
        Axiom::AfterWait { notification, woken } => plain("after-wait", &[notification, woken]),
        Axiom::BeforeReturn { notification, woken } => plain("before-return", &[notification, woken]),
        Axiom::WakerRuns { notification, woken } => plain("waker", &[notification, woken]),
        Axiom::Arrivals { depart, ref earlier, ref came } => {
            let _ = writeln!(text, "arrivals {}{} of{}", number(depart), list(earlier), list(came));
        }
    }
}

fn exclusion_text(exclusion: Exclusion) -> String {
    match exclusion {
        Exclusion::Later(event) => format!(" later {}", number(event)),
        Exclusion::Absent(event) => format!(" absent {}", number(event)),
        Exclusion::Overwritten(event, other) => {
            format!(" overwritten {} {}", number(event), number(other))
        }
        Exclusion::NotInitial(other) => format!(" initial {}", number(other)),
    }
}
