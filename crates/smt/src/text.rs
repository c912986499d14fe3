//! SMT-LIB 2, as far as we write it: terms of difference logic, simplified where a part is constant.

use std::fmt::Write as _;

/// A term, as its text.
pub type Term = String;

/// The truth value that always holds.
pub const TRUE: &str = "true";
/// The truth value that never holds.
pub const FALSE: &str = "false";

/// The place of an event in the order.
pub fn place(event: usize) -> Term {
    format!("o{event}")
}

/// Whether one event comes before another.
pub fn before(first: usize, second: usize) -> Term {
    format!("(< o{first} o{second})")
}

/// Whether all parts hold.
pub fn all(parts: impl IntoIterator<Item = Term>) -> Term {
    connected("and", TRUE, FALSE, parts)
}

/// Whether some part holds.
pub fn any(parts: impl IntoIterator<Item = Term>) -> Term {
    connected("or", FALSE, TRUE, parts)
}

/// Whether the term does not hold.
pub fn not(term: &str) -> Term {
    match term {
        TRUE => FALSE.to_string(),
        FALSE => TRUE.to_string(),
        term => format!("(not {term})"),
    }
}

/// Whether the second term holds where the first does.
pub fn implies(condition: &str, term: Term) -> Term {
    any([not(condition), term])
}

/// `neutral` changes nothing as a part, `absorbing` makes the whole what it is itself.
fn connected(
    connective: &str,
    neutral: &str,
    absorbing: &str,
    parts: impl IntoIterator<Item = Term>,
) -> Term {
    let mut parts: Vec<Term> = parts.into_iter().filter(|part| part != neutral).collect();
    if parts.iter().any(|part| part == absorbing) {
        return absorbing.to_string();
    }
    match parts.len() {
        0 => neutral.to_string(),
        1 => parts.swap_remove(0),
        _ => format!("({connective} {})", parts.join(" ")),
    }
}

/// A formula in the making.
#[derive(Debug)]
pub struct Text(String);

impl Default for Text {
    fn default() -> Text {
        Text("(set-logic QF_IDL)\n".to_string())
    }
}

impl Text {
    /// Declares the place of an event in the order.
    pub fn declare_place(&mut self, event: usize) {
        self.line(format_args!("(declare-const o{event} Int)"));
    }

    /// Declares a truth value.
    pub fn declare_truth(&mut self, name: &str) {
        self.line(format_args!("(declare-const {name} Bool)"));
    }

    /// Demands that the term holds.
    pub fn demand(&mut self, term: &str) {
        if term != TRUE {
            self.line(format_args!("(assert {term})"));
        }
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.0
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_folded() {
        let (a, b) = ("a".to_string(), "b".to_string());
        assert_eq!(all([a.clone(), TRUE.to_string(), b.clone()]), "(and a b)");
        assert_eq!(all([a.clone(), FALSE.to_string()]), FALSE);
        assert_eq!(all([]), TRUE);
        assert_eq!(any([]), FALSE);
        assert_eq!(any([a.clone(), FALSE.to_string()]), "a");
        assert_eq!(implies(TRUE, a.clone()), "a");
        assert_eq!(implies("a", b), "(or (not a) b)");
        assert_eq!(not(FALSE), TRUE);
    }
}
