//! LLVM's intrinsic functions that stand for instructions.

use crate::evaluate::Given;
use crate::values::{Known, Scalar, Type, UNKNOWN};

/// What is known of the result of a call of the function with this name. Types are part of names.
pub(crate) fn evaluate(name: &str, result: Type, given: &[Given]) -> Known {
    let operation = name.strip_prefix("llvm.").and_then(|name| name.rsplit_once('.'));
    let Some((operation, _)) = operation else { return UNKNOWN };
    match (operation, result, given) {
        ("expect", _, [value, ..]) => result.fit(value.known),
        (_, Type::One(of @ Scalar::Int(_)), [one, rest @ ..]) => {
            let other = rest.first().and_then(|other| other.known[0]);
            let found = one.known[0].and_then(|one| word(operation, of, of.fit(one), other));
            [found.map(|value| of.fit(value)), None]
        }
        (_, Type::Two([of @ Scalar::Int(_), Scalar::Int(1)]), [one, other]) => {
            let both = one.known[0].zip(other.known[0]);
            both.and_then(|(one, other)| checked(operation, of, of.fit(one), of.fit(other)))
                .unwrap_or(UNKNOWN)
        }
        _ => UNKNOWN,
    }
}

fn word(operation: &str, of: Scalar, one: u64, other: Option<u64>) -> Option<u64> {
    let number = of.signed(one);
    let other = other.map(|other| of.fit(other));
    Some(match operation {
        "umax" => one.max(other?),
        "umin" => one.min(other?),
        "smax" => number.max(of.signed(other?)).cast_unsigned(),
        "smin" => number.min(of.signed(other?)).cast_unsigned(),
        // The flag of `abs` may exclude the smallest number.
        "abs" if number == of.signed(1 << (of.bits() - 1)) => return None,
        "abs" => number.unsigned_abs(),
        "ctpop" => one.count_ones().into(),
        "bswap" => one.swap_bytes() >> (u64::BITS - of.bits()),
        _ => return None,
    })
}

/// Arithmetic with an overflow flag.
fn checked(operation: &str, of: Scalar, one: u64, other: u64) -> Option<Known> {
    let (sign, operation) = operation.strip_suffix(".with.overflow")?.split_at_checked(1)?;
    let number = |value: u64| if sign == "s" { i128::from(of.signed(value)) } else { i128::from(value) };
    let exact = match operation {
        "add" => number(one) + number(other),
        "sub" => number(one) - number(other),
        // The product of two unsigned numbers of 64 bits may overflow even this.
        "mul" => number(one).checked_mul(number(other))?,
        _ => return None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the lowest bits are what is wanted"
    )]
    let value = of.fit(exact as u64);
    Some([Some(value), Some(u64::from(number(value) != exact))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, of: &str, values: &[i64]) -> Known {
        let given = |&value: &i64| Given {
            of: None,
            known: [Some(value.cast_unsigned()), None],
            origins: crate::terms::CONSTANT,
        };
        let given: Vec<Given> = values.iter().map(given).collect();
        evaluate(name, Type::parse(of), &given)
    }

    #[test]
    fn numbers_are_compared_and_counted() {
        let one = |name: &str, of: &str, values: &[i64]| result(name, of, values)[0];
        assert_eq!(one("llvm.smax.i8", "i8", &[-1, 1]), Some(1));
        assert_eq!(one("llvm.umax.i8", "i8", &[-1, 1]), Some(0xFF));
        assert_eq!(one("llvm.smin.i8", "i8", &[-1, 1]), Some(0xFF));
        assert_eq!(one("llvm.umin.i8", "i8", &[-1, 1]), Some(1));
        assert_eq!(one("llvm.abs.i32", "i32", &[-7, 1]), Some(7));
        assert_eq!(one("llvm.abs.i8", "i8", &[-128, 1]), None);
        assert_eq!(one("llvm.ctpop.i16", "i16", &[-1]), Some(16));
        assert_eq!(one("llvm.bswap.i32", "i32", &[0x1234_5678]), Some(0x7856_3412));
        assert_eq!(one("llvm.expect.i1", "i1", &[-1, 0]), Some(1));
        assert_eq!(one("llvm.frobnicate.i8", "i8", &[1, 1]), None);
        assert_eq!(one("strlen", "i64", &[1]), None);
    }

    #[test]
    fn overflow_is_told() {
        let of = "{ i8, i1 }";
        assert_eq!(result("llvm.sadd.with.overflow.i8", of, &[100, 27]), [Some(127), Some(0)]);
        assert_eq!(result("llvm.sadd.with.overflow.i8", of, &[100, 28]), [Some(128), Some(1)]);
        assert_eq!(result("llvm.uadd.with.overflow.i8", of, &[100, 28]), [Some(128), Some(0)]);
        assert_eq!(result("llvm.usub.with.overflow.i8", of, &[1, 2]), [Some(255), Some(1)]);
        assert_eq!(result("llvm.smul.with.overflow.i8", of, &[-16, 8]), [Some(128), Some(0)]);
        assert_eq!(
            result("llvm.umul.with.overflow.i64", "{ i64, i1 }", &[-1, 2]),
            [Some(u64::MAX - 1), Some(1)]
        );
    }
}
