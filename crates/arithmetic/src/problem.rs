//! Numbers, what is computed from them, and what they may be, as a problem in bit-vectors.
//!
//! All numbers have 64 bits; operations of fewer bits look at the lowest bits of their operands, as in
//! [`foretell_trace::values`]. What has no value there (a quotient by 0) has some value here. So a problem that is
//! unsatisfiable here is unsatisfiable there, which is all that callers rely on.

use std::fmt::Write;
use std::time::Duration;

use foretell_trace::values::{Binary, Unary};

/// A number of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number(usize);

/// Something that may be so or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Choice(usize);

/// What the solver says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// All that was assumed can be so.
    Possible,
    /// These of the assumptions cannot be so together.
    Impossible(Vec<Choice>),
    /// The time was up.
    Unknown,
}

/// A problem in the making.
#[derive(Clone, Default, Debug)]
pub struct Problem {
    text: String,
    numbers: usize,
    choices: usize,
    assumed: Vec<Choice>,
}

impl Problem {
    /// A number of which nothing is known.
    pub fn free(&mut self) -> Number {
        let number = self.next();
        self.say(format_args!("(declare-const n{} (_ BitVec 64))", number.0));
        number
    }

    /// This very number.
    pub fn constant(&mut self, value: u64) -> Number {
        self.define(format_args!("(_ bv{value} 64)"))
    }

    /// The result of an operation on one number.
    pub fn unary(&mut self, op: Unary, width: u8, of: Number) -> Number {
        let of = part(of, width);
        match op {
            Unary::Truncate => self.define(format_args!("{}", extended("zero", &of, width))),
            Unary::ExtendSign => self.define(format_args!("{}", extended("sign", &of, width))),
            Unary::IsZero => self.define(format_args!("{}", bit(&format!("(= {of} (_ bv0 {width}))")))),
        }
    }

    /// The result of an operation on two numbers.
    pub fn binary(&mut self, op: Binary, width: u8, left: Number, right: Number) -> Number {
        let (left, right) = (part(left, width), part(right, width));
        let name = match op {
            Binary::Add => "bvadd",
            Binary::Subtract => "bvsub",
            Binary::Multiply => "bvmul",
            Binary::DivideUnsigned => "bvudiv",
            Binary::DivideSigned => "bvsdiv",
            Binary::RemainderUnsigned => "bvurem",
            Binary::RemainderSigned => "bvsrem",
            Binary::And => "bvand",
            Binary::Or => "bvor",
            Binary::Xor => "bvxor",
            Binary::ShiftLeft => "bvshl",
            Binary::ShiftRight => "bvlshr",
            Binary::ShiftRightSigned => "bvashr",
            Binary::Equal => "=",
            Binary::LessUnsigned => "bvult",
            Binary::LessSigned => "bvslt",
        };
        let result = format!("({name} {left} {right})");
        match op {
            Binary::Equal | Binary::LessUnsigned | Binary::LessSigned => {
                self.define(format_args!("{}", bit(&result)))
            }
            _ => self.define(format_args!("{}", extended("zero", &result, width))),
        }
    }

    /// One of two numbers, by whether the condition is 0.
    pub fn select(&mut self, condition: Number, then: Number, otherwise: Number) -> Number {
        let (condition, then, otherwise) = (condition.0, then.0, otherwise.0);
        self.define(format_args!("(ite (= n{condition} (_ bv0 64)) n{otherwise} n{then})"))
    }

    /// Something that may be so or not.
    pub fn choice(&mut self) -> Choice {
        let choice = Choice(self.choices);
        self.choices += 1;
        self.say(format_args!("(declare-const c{} Bool)", choice.0));
        choice
    }

    /// One of these is so.
    pub fn one_of(&mut self, choices: &[Choice]) {
        let names: String = choices.iter().map(|choice| format!(" c{}", choice.0)).collect();
        self.say(format_args!("(assert (or false{names}))"));
    }

    /// If this is so, the two numbers are the same.
    pub fn implies_same(&mut self, choice: Choice, one: Number, other: Number) {
        self.say(format_args!("(assert (=> c{} (= n{} n{})))", choice.0, one.0, other.0));
    }

    /// The two numbers are the same.
    pub fn same(&mut self, one: Number, other: Number) {
        self.say(format_args!("(assert (= n{} n{}))", one.0, other.0));
    }

    /// Takes it to be so. It may turn out to be what makes the problem impossible.
    pub fn assume(&mut self, choice: Choice) {
        self.assumed.push(choice);
    }

    /// The problem in SMT-LIB, with its question, for a solver that forgets all else and spends at most `time`.
    pub fn query(&self, time: Duration) -> String {
        let assumed: String = self.assumed.iter().map(|choice| format!(" c{}", choice.0)).collect();
        format!(
            "(reset)\n(set-option :produce-unsat-cores true)\n(set-option :smt.core.minimize true)\n\
             (set-option :timeout {})\n{}(check-sat-assuming ({assumed}))\n",
            time.as_millis(),
            self.text
        )
    }

    fn next(&mut self) -> Number {
        self.numbers += 1;
        Number(self.numbers - 1)
    }

    fn define(&mut self, text: std::fmt::Arguments<'_>) -> Number {
        let number = self.next();
        self.say(format_args!("(define-fun n{} () (_ BitVec 64) {text})", number.0));
        number
    }

    fn say(&mut self, line: std::fmt::Arguments<'_>) {
        // Text in memory can always be written to.
        let _ = writeln!(self.text, "{line}");
    }
}

/// The lowest bits of a number.
fn part(of: Number, width: u8) -> String {
    if width == 64 { format!("n{}", of.0) } else { format!("((_ extract {} 0) n{})", width - 1, of.0) }
}

/// Fills up to 64 bits, with zeroes or with the sign.
fn extended(how: &str, bits: &str, width: u8) -> String {
    if width == 64 { bits.to_string() } else { format!("((_ {how}_extend {}) {bits})", 64 - width) }
}

/// 1 if the condition holds, else 0.
fn bit(condition: &str) -> String {
    format!("(ite {condition} (_ bv1 64) (_ bv0 64))")
}

/// The choices of an unsatisfiable core in SMT-LIB, like `(c1 c7)`.
pub fn core(line: &str) -> Option<Vec<Choice>> {
    let names = line.strip_prefix('(')?.strip_suffix(')')?;
    names.split_whitespace().map(|name| name.strip_prefix('c')?.parse().ok().map(Choice)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_the_problem_and_its_assumptions() {
        let mut problem = Problem::default();
        let (one, choice) = (problem.constant(1), problem.choice());
        let two = problem.unary(Unary::Truncate, 8, one);
        problem.implies_same(choice, one, two);
        problem.assume(choice);
        let query = problem.query(Duration::from_millis(7));
        assert!(query.starts_with("(reset)\n") && query.contains("(set-option :timeout 7)\n"), "{query}");
        assert!(query.contains("(assert (=> c0 (= n0 n1)))\n"), "{query}");
        assert!(query.ends_with("(check-sat-assuming ( c0))\n"), "{query}");
    }

    #[test]
    fn cores_are_lists_of_choices() {
        assert_eq!(core("(c1 c7)"), Some(vec![Choice(1), Choice(7)]));
        assert_eq!(core("()"), Some(Vec::new()));
        assert_eq!([core("c1"), core("(x1)"), core("(c)")], [None, None, None]);
    }
}
