//! Numbers, what is computed from them, and what they may be, as a problem in bit-vectors.
//!
//! All numbers have 64 bits; operations of fewer look at the lowest ones of their operands, as [`foretell_trace::values`] has it. What has no value there
//! (a quotient by 0) has some value here. So a problem that cannot be solved here cannot be there, which is all that is asked for.

use std::fmt::Write;
use std::time::Duration;

use foretell_trace::values::{Binary, Unary};

use crate::process::{Process, SolverError};

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

    /// Asks a solver that has nothing else to do, and gives it so much time.
    pub fn ask(&self, process: &mut Process, time: Duration) -> Result<Answer, SolverError> {
        let assumed: String = self.assumed.iter().map(|choice| format!(" c{}", choice.0)).collect();
        process.say(&format!(
            "(reset)\n(set-option :produce-unsat-cores true)\n(set-option :smt.core.minimize true)\n(set-option :timeout {})\n{}(check-sat-assuming ({assumed}))\n",
            time.as_millis(),
            self.text
        ))?;
        match process.hear()?.as_str() {
            "sat" => Ok(Answer::Possible),
            "unsat" => {
                process.say("(get-unsat-core)\n")?;
                core(&process.hear()?).map(Answer::Impossible)
            }
            "unknown" | "timeout" => Ok(Answer::Unknown),
            other => Err(SolverError::Unexpected(other.to_string())),
        }
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

/// The choices that a line like `(c1 c7)` names.
fn core(line: &str) -> Result<Vec<Choice>, SolverError> {
    let unexpected = || SolverError::Unexpected(line.to_string());
    let names = line.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(unexpected)?;
    let choice = |name: &str| name.strip_prefix('c').and_then(|number| number.parse().ok()).map(Choice);
    names.split_whitespace().map(|name| choice(name).ok_or_else(unexpected)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::program;

    const TIME: Duration = Duration::from_secs(10);

    /// Whether the operation gives this result.
    fn gives(op: Binary, width: u8, left: u64, right: u64, result: u64) -> bool {
        let mut problem = Problem::default();
        let (left, right) = (problem.constant(left), problem.constant(right));
        let (found, result) = (problem.binary(op, width, left, right), problem.constant(result));
        problem.same(found, result);
        problem.ask(&mut Process::start(&program()).unwrap(), TIME).unwrap() == Answer::Possible
    }

    #[test]
    fn operations_have_their_width() {
        assert!(gives(Binary::Add, 8, 255, 1, 0) && !gives(Binary::Add, 8, 255, 1, 256));
        assert!(gives(Binary::Subtract, 32, 0, 1, 0xffff_ffff));
        assert!(gives(Binary::DivideSigned, 8, 0x80, 0xff, 0x80));
        assert!(gives(Binary::RemainderSigned, 64, 7u64.wrapping_neg(), 3, u64::MAX));
        assert!(gives(Binary::LessSigned, 8, 0x80, 1, 1) && gives(Binary::LessUnsigned, 8, 0x80, 1, 0));
        assert!(gives(Binary::Equal, 1, 3, 1, 1), "only the lowest bit counts");
        assert!(gives(Binary::ShiftRightSigned, 8, 0x80, 7, 0xff));
    }

    #[test]
    fn only_what_matters_is_blamed() {
        let mut problem = Problem::default();
        let [one, two, three] = [1, 2, 3].map(|value| problem.constant(value));
        let mut read = |of: [Number; 2]| {
            let (number, choices) = (problem.free(), [problem.choice(), problem.choice()]);
            problem.one_of(&choices);
            for (choice, source) in choices.into_iter().zip(of) {
                problem.implies_same(choice, number, source);
            }
            (number, choices)
        };
        let (x, sees_x) = read([one, two]);
        let (y, sees_y) = read([one, one]);
        let sum = problem.binary(Binary::Add, 64, x, y);
        problem.same(sum, three);
        problem.assume(sees_x[0]);
        problem.assume(sees_y[0]);
        let mut process = Process::start(&program()).unwrap();
        assert_eq!(problem.ask(&mut process, TIME).unwrap(), Answer::Impossible(vec![sees_x[0]]));
        problem.assumed = vec![sees_x[1], sees_y[1]];
        assert_eq!(
            problem.ask(&mut process, TIME).unwrap(),
            Answer::Possible,
            "the same process answers again"
        );
    }
}
