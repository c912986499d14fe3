//! Conditions on shared memory, in the language of programs: `x + y <= 2 && a[0] != 1`.
//!
//! Which variables there are is not the condition's affair: the caller says what each one holds. Only what a
//! variable is called matters, so a condition can be asked of a trace as well.

use std::fmt;

use foretell_depend::{Binary, Unary};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::parse_expression;
use crate::syntax::token::tokens;
use crate::syntax::tree::{Expression, ExpressionKind, Logic};
use crate::value::{Value, binary, unary};

/// Something that holds of shared memory, or does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// As it was written.
    text: String,
    root: Term,
    /// The variables by name, and whether an element is meant; each once.
    names: Vec<(String, bool)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Number(i64),
    /// A variable, or an element of an array.
    Variable(String, Option<Box<Term>>),
    Unary(Unary, Box<Term>),
    Binary(Binary, Box<Term>, Box<Term>),
    /// The right side counts only if the left one does not decide the result.
    Logic(Logic, Box<Term>, Box<Term>),
}

impl Condition {
    /// Reads a condition, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Condition, Vec<Diagnostic>> {
        let mut diagnostics = Diagnostics::default();
        let tokens = tokens(text, &mut diagnostics);
        let expression = parse_expression(&tokens, &mut diagnostics);
        let mut names = Vec::new();
        let root = expression.and_then(|root| term(&root, &mut names, &mut diagnostics));
        match root {
            Some(root) if diagnostics.is_empty() => {
                names.sort();
                names.dedup();
                Ok(Condition { text: text.trim().to_string(), root, names })
            }
            _ => Err(diagnostics.into_sorted()),
        }
    }

    /// The variables that it speaks of, and whether elements of them are meant.
    pub fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.names.iter().map(|(name, indexed)| (name.as_str(), *indexed))
    }

    /// Whether it holds, where `content` gives the content of a variable by its name (`x`, `a[3]`). `None` if that is
    /// not known of some variable that matters, or if there is a division by zero.
    pub fn holds(&self, content: &impl Fn(&str) -> Option<i64>) -> Option<bool> {
        value(&self.root, content).map(Value::is_true)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The term of an expression that only computes; anything else is reported.
fn term(
    from: &Expression<'_>,
    names: &mut Vec<(String, bool)>,
    diagnostics: &mut Diagnostics,
) -> Option<Term> {
    let mut part = |part: &Expression<'_>| term(part, names, diagnostics).map(Box::new);
    Some(match &from.kind {
        ExpressionKind::Number(number) => Term::Number(*number),
        ExpressionKind::Unary(op, of) => Term::Unary(*op, part(of)?),
        ExpressionKind::Binary(op, left, right) => Term::Binary(*op, part(left)?, part(right)?),
        ExpressionKind::Logic(op, left, right) => Term::Logic(*op, part(left)?, part(right)?),
        ExpressionKind::Variable(object) => {
            let index = match &object.index {
                Some(index) => Some(part(index)?),
                None => None,
            };
            names.push((object.name.text.to_string(), index.is_some()));
            Term::Variable(object.name.text.to_string(), index)
        }
        ExpressionKind::Field(..)
        | ExpressionKind::Call(..)
        | ExpressionKind::New(_)
        | ExpressionKind::Fork(..)
        | ExpressionKind::ForkBlock(_) => {
            diagnostics.report(from.span, "a condition can only compute with shared variables and numbers");
            return None;
        }
    })
}

fn value(term: &Term, content: &impl Fn(&str) -> Option<i64>) -> Option<Value> {
    match term {
        Term::Number(number) => Some(Value::Number(*number)),
        Term::Variable(name, None) => content(name).map(Value::Number),
        Term::Variable(name, Some(index)) => match value(index, content)? {
            Value::Number(index) => content(&format!("{name}[{index}]")).map(Value::Number),
            Value::Cell(_) | Value::Thread(_) => None,
        },
        Term::Unary(op, of) => unary(*op, value(of, content)?).ok(),
        Term::Binary(op, left, right) => binary(*op, value(left, content)?, value(right, content)?).ok(),
        Term::Logic(op, left, right) => {
            let left = value(left, content)?.is_true();
            let decided = match op {
                Logic::And => !left,
                Logic::Or => left,
            };
            let result = if decided { left } else { value(right, content)?.is_true() };
            Some(result.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Option<bool> {
        let content = |name: &str| match name {
            "x" => Some(1),
            "y" => Some(2),
            "a[2]" => Some(-7),
            _ => None,
        };
        Condition::parse(text).unwrap().holds(&content)
    }

    #[test]
    fn conditions_are_computed_from_what_variables_hold() {
        assert_eq!(holds("x + y <= 3"), Some(true));
        assert_eq!(holds("x == 1 && a[y] + 7 == 0"), Some(true));
        assert_eq!(holds("!(x < y) or y == 3"), Some(false));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert_eq!(holds("z == 1"), None);
        assert_eq!(holds("x == 1 || z == 1"), Some(true));
        assert_eq!(holds("x == 1 or z == 1"), None);
        assert_eq!(holds("a[3] == 1"), None);
        assert_eq!(holds("x / (y - 2) == 1"), None);
    }

    #[test]
    fn names_are_told() {
        let condition = Condition::parse("y > a[x] && y != 0").unwrap();
        assert_eq!(condition.names().collect::<Vec<_>>(), [("a", true), ("x", false), ("y", false)]);
    }

    #[test]
    fn what_does_more_than_compute_is_refused() {
        for (text, message) in [
            ("f(1) == 2", "1:1: a condition can only compute with shared variables and numbers"),
            ("x ==", "1:5: expected an expression, but the program ends"),
            ("x y", "1:3: expected the end, but found `y`"),
        ] {
            let errors = Condition::parse(text).unwrap_err();
            assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
        }
    }
}
